//! Comparing what a document shows with what a command printed.
//!
//! A line `…` stands for any lines, `…` at the end of a line for the rest of it. Words must be equal.
//! Times are free. Other numbers may differ by 5 %: they are rounded, and where refinement stops may
//! depend on how a processor rounds. Counts up to 100 must be equal.

/// The first shown line that has no counterpart, if any.
pub fn first_difference(shown: &[String], printed: &str) -> Option<String> {
    let printed: Vec<&str> = printed.lines().filter(|l| !l.trim().is_empty()).collect();
    let shown: Vec<&str> = shown
        .iter()
        .map(String::as_str)
        .filter(|l| !l.trim().is_empty())
        .collect();
    let reached = matched(&shown, &printed);
    match shown.get(reached) {
        Some(line) => Some((*line).to_string()),
        None if reached > shown.len() => None,
        None => Some("(the end: more was printed)".into()),
    }
}

/// How many shown lines can be matched; one more where that is everything.
fn matched(shown: &[&str], printed: &[&str]) -> usize {
    match (shown, printed) {
        ([], []) => 1,
        ([], _) => 0,
        ([first, rest @ ..], _) if first.trim() == "…" => {
            let best = (0..=printed.len()).map(|skip| matched(rest, &printed[skip..]));
            1 + best.max().unwrap_or(0)
        }
        ([first, rest @ ..], [line, others @ ..]) if same_line(first, line) => {
            1 + matched(rest, others)
        }
        _ => 0,
    }
}

fn same_line(shown: &str, printed: &str) -> bool {
    let shown: Vec<&str> = shown.split_whitespace().collect();
    let printed: Vec<&str> = printed.split_whitespace().collect();
    let open = shown.last() == Some(&"…");
    let count = shown.len() - usize::from(open);
    if printed.len() < count || (!open && printed.len() > count) {
        return false;
    }
    (0..count).all(|k| {
        let is_time = shown
            .get(k + 1)
            .is_some_and(|unit| matches!(unit.trim_end_matches([':', ',']), "s" | "times"));
        is_time && number(shown[k]).is_some() && number(printed[k]).is_some()
            || same_word(shown[k], printed[k])
    })
}

const PUNCTUATION: [char; 9] = ['[', ']', '(', ')', ',', ':', ';', '%', '='];

fn number(word: &str) -> Option<f64> {
    word.trim_matches(PUNCTUATION).parse().ok()
}

fn same_word(shown: &str, printed: &str) -> bool {
    if shown == printed {
        return true;
    }
    let (Some(a), Some(b)) = (number(shown), number(printed)) else {
        return false;
    };
    let around = |word: &str| word.replace(word.trim_matches(PUNCTUATION), "0");
    let largest = a.abs().max(b.abs());
    let is_count = !format!("{shown}{printed}").contains(['.', 'e']) && largest <= 100.0;
    // Below 1e-9 there is nothing but rounding in quantities of order one.
    around(shown) == around(printed)
        && !is_count
        && (largest < 1e-9 || (a - b).abs() <= 0.05 * largest)
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    fn differs(shown: &str, printed: &str) -> bool {
        let shown: Vec<String> = shown.lines().map(String::from).collect();
        first_difference(&shown, printed).is_some()
    }

    #[test]
    fn words_and_counts_are_exact_numbers_nearly_times_free() {
        assert!(!differs(
            "a 1.00 %, 3 boxes, 2 s",
            "a  1.04 %, 3 boxes, 9 s"
        ));
        assert!(differs("a 1.00 %", "a 1.10 %"));
        assert!(differs("a 1.00 %", "b 1.00 %"));
        assert!(differs("3 boxes", "4 boxes"));
        assert!(differs("[0.5]", "0.5"));
    }

    #[test]
    fn an_ellipsis_stands_for_lines_or_the_rest_of_one() {
        assert!(!differs("a\n…\nd", "a\nb\n\nc\nd"));
        assert!(!differs("a\n…", "a"));
        assert!(!differs("a 1 …\nb", "a 1 2 3\nb"));
        assert!(differs("a\nd", "a\nb\nd"));
        assert!(differs("a\n…\ne", "a\nb\nd"));
        assert!(differs("a", "a\nb"));
    }
}
