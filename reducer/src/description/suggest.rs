//! Suggestions for misspelt names.

/// The known name closest to `word`, if it is close enough to be meant.
pub fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let word: String = word.chars().take(80).collect::<String>().to_lowercase();
    let allowed = (word.chars().count() / 3).max(1);
    let length = word.len();
    known
        .into_iter()
        .take(2000)
        .filter(|name| name.len().abs_diff(length) <= allowed)
        .map(|name| (distance(&word, &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name.to_owned())
}

/// Edit distance in which a swap of neighbours counts once.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().take(80).collect();
    let columns = right.len() + 1;
    let mut table = vec![0; (left.len() + 1) * columns];
    for row in 0..=left.len() {
        for column in 0..=right.len() {
            let here = row * columns + column;
            if row == 0 || column == 0 {
                table[here] = row + column;
                continue;
            }
            let different = usize::from(left[row - 1] != right[column - 1]);
            let mut best = (table[here - columns] + 1)
                .min(table[here - 1] + 1)
                .min(table[here - columns - 1] + different);
            if row > 1
                && column > 1
                && left[row - 1] == right[column - 2]
                && left[row - 2] == right[column - 1]
            {
                best = best.min(table[here - 2 * columns - 2] + 1);
            }
            table[here] = best;
        }
    }
    table.last().copied().unwrap_or(0)
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
