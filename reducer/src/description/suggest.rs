//! Suggestions for misspelt names.

use strsim::osa_distance;

/// The known name closest to `word`, if it is close enough to be meant. A swap of neighbours counts
/// as one mistake.
pub fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let word: String = word.chars().take(80).collect::<String>().to_lowercase();
    let allowed = (word.chars().count() / 3).max(1);
    let length = word.len();
    known
        .into_iter()
        .take(2000)
        .filter(|name| name.len().abs_diff(length) <= allowed)
        .map(|name| (osa_distance(&word, &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_mistakes_are_recognised() {
        let known = ["hinge", "prismatic", "spherical", "mass"];
        assert_eq!(closest("hinje", known), Some("hinge".into()));
        assert_eq!(closest("msas", known), Some("mass".into()));
        assert_eq!(closest("Prismatik", known), Some("prismatic".into()));
        assert_eq!(closest("weld", known), None);
    }
}
