//! Which checks are left out here because a tool is missing or because they take long: each is listed as
//! ignored, with the reason. The tests themselves pass without such a part, so this list is where a
//! reader of `cargo test` sees what was not checked.

#[path = "../../exporters/tests/support/tools.rs"]
mod tools;

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::process::Command;
use tools::checks;

/// Marks the checks of the list, so that this program can run them alone.
const KIND: &str = "check";

fn main() {
    let lists = checks().into_iter().map(|check| {
        Trial::ignorable_test(check.name, move || {
            Ok(match check.left_out() {
                Some(reason) => Completion::ignored_with(reason),
                None => Completion::Completed,
            })
        })
        .with_kind(KIND)
    });
    let own = [
        Trial::test("checks_without_tools_are_ignored_with_a_reason", || {
            ignored(None)
        }),
        Trial::test("checks_without_required_tools_fail", || {
            ignored(Some("REDUCE_REQUIRE_TOOLS"))
        }),
    ];
    libtest_mimic::run(&Arguments::from_args(), lists.chain(own).collect()).exit();
}

/// Without any tool, all are ignored with their reason, or fail where tools are required.
fn ignored(variable: Option<&str>) -> Result<(), Failed> {
    let program = std::env::current_exe()?;
    let output = Command::new(program)
        .args([&format!("[{KIND}]"), "--test-threads=1"])
        .env("PATH", "/nowhere")
        .env_remove("REDUCE_REQUIRE_TOOLS")
        .env_remove("REDUCE_SLOW")
        .envs(variable.map(|name| (name, "1")))
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let optional = checks().iter().filter(|c| c.is_optional()).count();
    let (failed, ignored) = match variable {
        None => (0, checks().len()),
        Some(_) => (checks().len() - optional, optional),
    };
    let summary = format!("{failed} failed; {ignored} ignored;");
    let proof = match variable {
        None => {
            "ignored (missing: `frama-c --version` fails; absence of run-time errors is not proven)"
        }
        Some(_) => "required here and missing: `frama-c --version` fails",
    };
    let shown = said.contains(&summary) && said.contains(proof);
    if shown && output.status.success() == (failed == 0) {
        return Ok(());
    }
    Err(format!("{}, not {summary:?}:\n{said}", output.status).into())
}
