//! Streams and exit codes: results on standard output, errors and progress on standard error.

use crate::support::{command, data, folder, folder_with_model, reduce, text};
use crate::tools::{FULL_DEVICE, PSEUDO_TERMINAL};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Standard output without the line of times.
fn without_times(output: &[u8]) -> Vec<String> {
    text(output)
        .lines()
        .filter(|line| {
            !line.contains("computed now") && !line.starts_with("inverse dynamics takes")
        })
        .map(str::to_owned)
        .collect()
}

#[test]
fn without_a_terminal_there_is_no_progress() {
    let folder = folder();
    let output = reduce(folder.path(), &["four_bar.toml", "--fresh"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stderr), "");
    assert!(
        text(&output.stdout)
            .ends_with("all tolerances reached; written to four_bar_rigid-reduced\n")
    );
}

#[test]
fn quiet_says_nothing_but_errors_and_json() {
    let folder = folder_with_model();
    for words in [
        &["four_bar.toml", "-q"][..],
        &["-q", "four_bar.toml"],
        &["--quiet", "validate", "four_bar.toml"],
        &["check", "made/model.json", "four_bar.toml", "--quiet"],
    ] {
        let output = reduce(folder.path(), words);
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        assert_eq!(
            text(&output.stdout) + &text(&output.stderr),
            "",
            "{words:?}"
        );
    }
    let output = reduce(
        folder.path(),
        &["validate", "four_bar.toml", "-q", "--json"],
    );
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["valid"], true);
    let output = reduce(folder.path(), &["validate", "absent.toml", "-q"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("there is no such file"));
}

#[test]
fn a_result_that_falls_short_is_told_by_the_exit_code() {
    let folder = folder_with_model();
    let mechanism = std::fs::read_to_string(folder.path().join("four_bar.toml")).expect("a file");
    let heavier = mechanism.replace("2700 kg/m^3", "2900 kg/m^3");
    assert_ne!(heavier, mechanism);
    std::fs::write(folder.path().join("heavier.toml"), heavier).expect("a file");
    let words = ["check", "made/model.json", "heavier.toml"];
    let output = reduce(folder.path(), &words);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("a tolerance of the model is exceeded"));
    let output = reduce(folder.path(), &[&words[..], &["--quiet"]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
}

#[test]
fn verbose_tells_the_steps_in_order_and_leaves_results_alone() {
    let folder = folder();
    let plain = reduce(folder.path(), &["four_bar.toml", "--fresh"]);
    let told = reduce(folder.path(), &["-v", "four_bar.toml", "--fresh"]);
    assert_eq!(told.status.code(), Some(0));
    assert_eq!(without_times(&told.stdout), without_times(&plain.stdout));
    let steps = text(&told.stderr);
    let mut rest = steps.as_str();
    for step in [
        "read four_bar.toml: mechanism `four_bar_rigid`, 3 bodies",
        "18 dofs, 1 generalised coordinates, 0 stored samples",
        "probing",
        "refining: 1 open, 0 done, 24 samples",
        "x tolerance",
        "joining",
        "auditing",
        "checking at fresh points",
        "written to four_bar_rigid-reduced",
    ] {
        let place = rest.find(step);
        let place = place.unwrap_or_else(|| panic!("no `{step}` in\n{rest}"));
        rest = &rest[place + step.len()..];
    }
    assert!(steps.lines().all(|line| line.starts_with('[')), "{steps}");
}

#[test]
fn words_that_are_not_understood_are_json_too() {
    let folder = folder();
    for (words, message) in [
        (&["valdate", "x.toml"][..], "`valdate` is neither"),
        (&["local", "four_bar.toml"], "--at"),
        (
            &["local", "four_bar.toml", "--at", "x"],
            "`x` is not a number",
        ),
        (&["new", "arm", "--from", "none"], "invalid value 'none'"),
    ] {
        let output = reduce(folder.path(), &[words, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(document["valid"], false, "{words:?}");
        let said = document["faults"][0]["message"]
            .as_str()
            .expect("a message");
        assert!(said.contains(message), "{words:?}: {said}");
        assert!(document["faults"][0]["help"].is_string(), "{words:?}");
        assert!(!output.stderr.is_empty(), "{words:?}");
    }
}

#[test]
fn every_verb_has_json() {
    let folder = folder_with_model();
    for (words, key) in [
        (&["four_bar.toml"][..], "reached"),
        (&["validate", "four_bar.toml"], "valid"),
        (&["local", "four_bar.toml", "--at", "0"], "mass"),
        (&["modes", "four_bar.toml", "--at", "0"], "modes"),
        (&["eval", "made/model.h5", "--at", "0"], "mass"),
        (&["check", "made/model.h5", "four_bar.toml"], "errors"),
        (
            &[
                "export",
                "made/model.h5",
                "--format",
                "json",
                "-o",
                "x.json",
            ],
            "output",
        ),
        (&["new", "arm", "--from", "serial"], "file"),
    ] {
        let output = reduce(folder.path(), &[words, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        assert_eq!(text(&output.stderr), "", "{words:?}");
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert!(!document[key].is_null(), "{words:?}: {document}");
    }
}

#[test]
fn completions_know_every_verb() {
    let folder = folder();
    let help = text(&reduce(folder.path(), &["--help"]).stdout);
    let verbs: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Verbs:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(verbs.len() >= 9, "{help}");
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let output = reduce(folder.path(), &["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{shell}");
        let script = text(&output.stdout);
        for verb in &verbs {
            assert!(script.contains(verb), "{shell} does not know {verb}");
        }
        assert!(script.contains("samples-dir"), "{shell}");
    }
}

/// What the program writes to a terminal, both streams together.
fn on_terminal(folder: &Path, words: &str, environment: &[(&str, &str)]) -> String {
    let mut script = Command::new("script");
    let line = format!("{} {words}", env!("CARGO_BIN_EXE_reduce"));
    script
        .args(["-qec", &line, "/dev/null"])
        .current_dir(folder);
    script.env_remove("NO_COLOR").env("TERM", "xterm");
    script.envs(environment.iter().copied());
    let output = script.output().expect("`script` of util-linux");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn progress_and_colours_on_a_terminal() {
    if !PSEUDO_TERMINAL.is_done() {
        return;
    }
    let folder = folder();
    std::fs::copy(data("four_bar.toml"), folder.path().join("flexible.toml")).expect("a copy");
    let run = "flexible.toml --fresh";
    let shown = on_terminal(folder.path(), run, &[]);
    assert!(shown.contains("\r\x1b[Kprobing"), "{shown:?}");
    assert!(
        shown.contains("\r\x1b[Krefining: 1 open, 0 done, 24 samples"),
        "{shown:?}"
    );
    assert!(shown.contains(" left"), "{shown:?}");
    // The line is cleared before the results.
    assert!(shown.contains("\r\x1b[Kfour_bar: 90 dofs"), "{shown:?}");
    for line in shown
        .split("\r\x1b[K")
        .filter(|line| line.starts_with("refining"))
    {
        assert!(line.chars().count() < 80, "{line:?}");
    }
    let hidden = [
        on_terminal(folder.path(), &format!("{run} --quiet"), &[]),
        on_terminal(folder.path(), run, &[("TERM", "dumb")]),
    ];
    for shown in hidden {
        // On a slow machine a line of its own may say after a while what takes long.
        assert!(!shown.contains("\r\x1b[K"), "{shown:?}");
    }
    let colour = "\x1b[3";
    let coloured = on_terminal(folder.path(), "validate absent.toml", &[]);
    assert!(coloured.contains(colour), "{coloured:?}");
    let plain = on_terminal(folder.path(), "validate absent.toml", &[("NO_COLOR", "1")]);
    assert!(plain.contains("absent.toml") && !plain.contains(colour));
}

/// Rigid or flexible, a model keeps its digits under forces on its actuators: headers say so, and nothing
/// is warned of.
#[test]
fn single_precision_keeps_the_digits_of_accelerations() {
    let folder = folder();
    for mechanism in ["orthoglide", "four_bar"] {
        let file = data(&format!("{mechanism}.toml"));
        let made = reduce(
            folder.path(),
            &[file.to_str().expect("a path"), "-o", "made"],
        );
        assert_eq!(made.status.code(), Some(0), "{mechanism}");
        let words = ["export", "made/model.json", "--format", "c", "--single"];
        let output = reduce(folder.path(), &[&words[..], &["-o", mechanism]].concat());
        assert_eq!(output.status.code(), Some(0), "{mechanism}");
        assert_eq!(text(&output.stderr), "", "{mechanism}");
        let header = folder.path().join(format!("{mechanism}/{mechanism}.h"));
        let header = std::fs::read_to_string(header).expect("a header");
        let stated = header
            .lines()
            .find_map(|l| l.strip_prefix(" *   forward_dynamics "));
        let stated: f64 = stated.map_or(1.0, |s| s.trim().parse().expect("a number"));
        assert!(stated < 1e-4, "{mechanism}: {stated}");
    }
}

#[test]
fn a_closed_output_is_an_error_not_a_panic() {
    if !FULL_DEVICE.is_done() {
        return;
    }
    let folder = folder();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let full = full.expect("a device that is full");
    let output = command(folder.path(), &["validate", "four_bar.toml"])
        .stdout(full)
        .output()
        .expect("a run");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("the result cannot be written"));
}

/// Who reads the start of a result and closes the pipe has read enough.
#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = folder_with_model();
    for words in [
        &["local", "four_bar.toml", "--at", "0"][..],
        &["four_bar.toml", "-o", "again", "--fresh"],
        &["completions", "bash"],
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = command(folder.path(), words)
            .stdout(writer)
            .output()
            .expect("the program");
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        assert_eq!(text(&output.stderr), "", "{words:?}");
    }
    assert!(folder.path().join("again/model.json").exists());
}

#[test]
fn names_and_texts_do_not_command_the_terminal() {
    let folder = folder_with_model();
    let model = std::fs::read_to_string(folder.path().join("made/model.json")).expect("a model");
    let changed = model.replacen("\"four_bar_rigid\"", "\"a\\u001b[2Jb\\u009bc\"", 1);
    assert_ne!(changed, model);
    std::fs::write(folder.path().join("odd.json"), changed).expect("a file");
    let bad = "format = 1\n\"k\\u001b[31mey\" = 1\n# raw \u{1b}[2J\n";
    std::fs::write(folder.path().join("bad.toml"), bad).expect("a file");
    for words in [
        &["eval", "odd.json", "--at", "0", "-v"][..],
        &["validate", "bad.toml"],
        &["check", "odd.json", "bad.toml"],
    ] {
        let output = reduce(folder.path(), words);
        let all = text(&output.stdout) + &text(&output.stderr);
        let commands = |c: char| c.is_control() && c != '\n';
        assert!(!all.contains(commands), "{words:?}: {all:?}");
    }
    let output = reduce(folder.path(), &["eval", "odd.json", "--at", "0"]);
    assert!(
        text(&output.stdout).starts_with("a?[2Jb·c at"),
        "{output:?}"
    );
}

#[test]
fn a_check_that_compares_nothing_has_not_passed() {
    let folder = crate::support::folder();
    let path = folder.path().join("four_bar.toml");
    let mechanism = std::fs::read_to_string(&path).expect("a file");
    // The crank cannot turn so far: where it is stuck there is no model.
    let wide = mechanism.replace("range = [-1.75, 1.75]", "range = [-3.1, 3.1]");
    assert_ne!(wide, mechanism);
    std::fs::write(&path, wide).expect("a file");
    let made = reduce(folder.path(), &["four_bar.toml", "-o", "made", "--fresh"]);
    assert_eq!(made.status.code(), Some(1), "{}", text(&made.stderr));
    let mut nothing = 0;
    for seed in 1..=8 {
        let seed = seed.to_string();
        let check = ["check", "made/model.json", "four_bar.toml", "--json"];
        let one = [&check[..], &["--samples", "1", "--seed", &seed]].concat();
        let output = reduce(folder.path(), &one);
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        if document["compared"] == 0 {
            nothing += 1;
            assert_eq!(document["reached"], false);
            assert_eq!(output.status.code(), Some(1));
        }
    }
    assert!(nothing > 0, "every seed has a model");
}
