//! Tables of signals: read whole or refused.

use crate::support::scenario_file;
use reducer::dynamics::excitation::{Drive, Excitation};
use reducer::dynamics::scenario::{MAX_TABLE_BYTES, ScenarioFaultKind, load};
use std::fmt::Write;

const SCENARIO: &str = r#"format = 1
mechanism = "DATA/four_bar_rigid.toml"
duration = 1.0

[[drive]]
coordinate = "theta"
motion = { table = { file = "long.csv" } }

[sampling]
step = 0.1
"#;

#[test]
fn a_table_of_several_mebibytes_is_used_to_its_end() {
    let (folder, path) = scenario_file("motion.toml", SCENARIO);
    let rows = 200_000;
    let mut text = String::new();
    for i in 0..=rows {
        let time = f64::from(i) / f64::from(rows);
        writeln!(text, "{time:.9},{:.9}", time * time).unwrap();
    }
    assert!(text.len() > 4 << 20);
    std::fs::write(folder.path().join("long.csv"), text).unwrap();
    let scenario = load(&path).unwrap();
    let Drive::Motion { position, .. } = scenario.drives.drive(0, 0.9, 0.0, 0.0) else {
        panic!("a motion");
    };
    assert!((position - 0.81).abs() < 1e-6, "{position}");
}

#[test]
fn a_table_beyond_the_limit_is_refused() {
    let (folder, path) = scenario_file("motion.toml", SCENARIO);
    let table = std::fs::File::create(folder.path().join("long.csv")).unwrap();
    table.set_len(MAX_TABLE_BYTES as u64 + 1).unwrap();
    let faults = load(&path).unwrap_err().faults;
    assert!(
        matches!(
            &faults[..],
            [fault] if fault.origin.is_some()
                && matches!(fault.kind, ScenarioFaultKind::LargeTable { limit, .. } if limit == MAX_TABLE_BYTES)
        ),
        "{faults:?}"
    );
}
