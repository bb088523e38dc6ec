//! The self-test of generated C notices a wrong table, in any box and in both precisions.

#[path = "support/generated.rs"]
mod generated;
mod support;

use exporters::ExportOptions;
use exporters::code::c_files;
use generated::run;
use reducer::reduced_model::{ReducedModel, Table};
use std::process::Command;
use support::{model, recipes};

/// Whether the self-test of one model fails with the source of another.
fn fails(tested: &ReducedModel, source: &ReducedModel, single: bool) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let options = ExportOptions {
        single,
        prefix: Some("name".into()),
    };
    for (of, files) in [
        (tested, ["name.h", "name_selftest.c"]),
        (source, ["name.c", "name_tables.h"]),
    ] {
        let written = c_files(of, &options).unwrap();
        for (file, bytes) in written.iter().filter(|f| files.contains(&f.0.as_str())) {
            std::fs::write(folder.path().join(file), bytes).unwrap();
        }
    }
    let main = "#include \"name.h\"\nint main(void) { return (name_selftest() != 0) ? 7 : 0; }\n";
    std::fs::write(folder.path().join("main.c"), main).unwrap();
    run(Command::new("cc").current_dir(folder.path()).args([
        "-std=c99",
        "-o",
        "test",
        "main.c",
        "name.c",
        "name_selftest.c",
        "-lm",
    ]));
    let status = Command::new(folder.path().join("test")).status().unwrap();
    status.code() == Some(7)
}

#[test]
fn a_table_that_is_a_thousandth_off_is_noticed() {
    let recipe = recipes().into_iter().find(|r| r.name == "flexible_arm");
    let right = model(&recipe.unwrap());
    assert!(right.boxes.len() > 1 && !right.layout.outputs.is_empty());
    let tables: [fn(&mut ReducedModel, usize) -> &mut Table; 2] = [
        |m, i| &mut m.boxes[i].dynamics,
        |m, i| &mut m.boxes[i].outputs,
    ];
    for single in [false, true] {
        assert!(!fails(&right, &right, single));
        for i in 0..right.boxes.len() {
            for table in tables {
                let mut wrong = right.clone();
                for c in &mut table(&mut wrong, i).coefficients {
                    *c *= 1.001;
                }
                assert!(fails(&right, &wrong, single), "box {i}");
            }
        }
    }
}
