//! A run that is killed leaves a folder of one model, and goes on from its stored samples to the same one.

use crate::support::{changed, contents, data, pipeline, reduce};
use crate::tools::{self, MANY_KILLS};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

type Files = Vec<(PathBuf, Vec<u8>)>;

/// A mechanism in two versions of the same name, and the folders that runs without interruption make.
struct Versions {
    files: [PathBuf; 2],
    whole: [Files; 2],
    /// Of the faster run.
    seconds: f64,
}

impl Versions {
    fn new(mechanism: &str, folder: &Path) -> Self {
        let other = folder.join("other");
        std::fs::create_dir_all(&other).expect("a folder");
        // Only the second one lets gravity be changed at run time: nearly every file differs.
        let gravity = "gravity = [0, 0, -9.81]";
        let free = "gravity = { value = [0, 0, -9.81], runtime = true }";
        let files = [
            data(mechanism),
            changed(mechanism, &[(gravity, free)], &other),
        ];
        let mut seconds = f64::INFINITY;
        let whole = [0, 1].map(|i| {
            let place = folder.join(format!("whole-{i}"));
            let start = Instant::now();
            pipeline(&files[i], &place);
            seconds = seconds.min(start.elapsed().as_secs_f64());
            contents(&place)
        });
        assert!(whole[0] != whole[1]);
        Self {
            files,
            whole,
            seconds,
        }
    }
}

/// What a folder holds after a run was killed there and any command has read the model: nothing, or
/// all of one version. Drafts stay until the next run.
#[track_caller]
fn assert_whole(folder: &Path, versions: &Versions) {
    if !folder.exists() {
        return;
    }
    let output = reduce()
        .args(["eval", "model.json", "--json", "--at"])
        .arg("0")
        .current_dir(folder)
        .output()
        .expect("the binary");
    let mut found = contents(folder);
    found.retain(|(path, _)| !path.to_string_lossy().starts_with(".reduce-drafts-"));
    if found.is_empty() {
        return;
    }
    assert!(
        versions.whole.contains(&found),
        "a mixed folder; the reader said {output:?}; {:?}",
        found.iter().map(|(path, _)| path).collect::<Vec<_>>()
    );
}

/// Kills runs at random moments, so many that were still running.
fn kill(mechanism: &str, kills: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let versions = Versions::new(mechanism, folder.path());
    let target = folder.path().join("target");
    let samples = target.join(".samples");
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let (mut killed, mut tried) = (0, 0);
    while killed < kills {
        tried += 1;
        assert!(tried < 20 * kills + 100, "{killed} of {tried} runs killed");
        // Some runs begin anew, others go on from what was sampled.
        if tried % 3 == 0 && samples.exists() {
            std::fs::remove_dir_all(&samples).expect("removed");
        }
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let part = (random >> 11) as f64 / (1_u64 << 53) as f64;
        let mut child = reduce()
            .arg(&versions.files[tried % 2])
            .arg("-o")
            .arg(&target)
            .args(["--jobs", "1"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary");
        std::thread::sleep(Duration::from_secs_f64(part * versions.seconds));
        if child.try_wait().expect("a child").is_none() {
            child.kill().expect("killed");
            killed += 1;
        }
        child.wait().expect("a child");
        assert_whole(&target, &versions);
    }
    for i in [0, 1] {
        pipeline(&versions.files[i], &target);
        assert!(contents(&target) == versions.whole[i], "{mechanism} {i}");
    }
}

/// Kills of each mechanism: `REDUCE_KILLS`, or 15 in slow checks, or a few of the fastest.
#[test]
fn killed_runs_resume_to_the_same_bytes() {
    let wanted = std::env::var("REDUCE_KILLS").ok();
    let wanted = wanted.map(|n| n.parse().expect("a number in REDUCE_KILLS"));
    if wanted.is_none() && !MANY_KILLS.is_done() {
        kill("four_bar_rigid.toml", 4);
        return;
    }
    for mechanism in ["four_bar_rigid", "four_bar", "orthoglide", "elbow"] {
        kill(&format!("{mechanism}.toml"), wanted.unwrap_or(50));
    }
}

/// Ends the process at a chosen call of `rename`, as a kill between two files does.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>

int rename(const char *from, const char *to)
{
    static int calls = 0;
    if (++calls == atoi(getenv("KILL_AT_RENAME"))) {
        raise(SIGKILL);
    }
    return ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename"))(from, to);
}
"#;

#[cfg(target_os = "linux")]
#[test]
fn a_kill_between_any_two_files_leaves_one_model() {
    if !tools::CC.is_done() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let [source, shim] = ["shim.c", "shim.so"].map(|name| folder.path().join(name));
    std::fs::write(&source, SHIM).expect("a folder");
    tools::run(
        Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .args([&shim, &source])
            .arg("-ldl"),
    );
    let versions = Versions::new("four_bar_rigid.toml", folder.path());
    let target = folder.path().join("target");
    let (mut kills, mut renamed) = (0, 0);
    for call in 1_usize.. {
        let (old, new) = (call % 2, (call + 1) % 2);
        pipeline(&versions.files[old], &target);
        assert!(contents(&target) == versions.whole[old], "before {call}");
        let status = reduce()
            .arg(&versions.files[new])
            .arg("-o")
            .arg(&target)
            .env("LD_PRELOAD", &shim)
            .env("KILL_AT_RENAME", call.to_string())
            .stdout(Stdio::null())
            .status()
            .expect("the binary");
        if status.code().is_some() {
            break;
        }
        kills += 1;
        assert_whole(&target, &versions);
        if contents(&target) == versions.whole[new] {
            renamed += 1;
        }
    }
    // The first kill comes before the set is complete, every further one after that.
    assert_eq!((kills, renamed), (versions.whole[0].len() + 1, kills - 1));
}

/// Links that someone has prepared where drafts could come are not followed.
#[cfg(unix)]
#[test]
fn drafts_do_not_follow_prepared_links() {
    let folder = tempfile::tempdir().expect("a folder");
    let [victim, target] = ["victim", "target"].map(|name| folder.path().join(name));
    for place in [&victim, &target] {
        std::fs::create_dir_all(place).expect("a folder");
    }
    std::fs::write(victim.join("model.json"), "precious").expect("a file");
    let before = contents(&victim);
    let script = r#"
        ln -s "$1/model.json" "$2/.model.json.$$.draft"
        ln -s "$1" "$2/.reduce-drafts-$$-0"
        ln -s "$1" "$2/.reduce-drafts-1-0"
        exec "$3" "$4" -o "$2" --fresh --quiet
    "#;
    let status = Command::new("sh")
        .args(["-c", script, "sh"])
        .args([&victim, &target])
        .arg(env!("CARGO_BIN_EXE_reduce"))
        .arg(data("four_bar_rigid.toml"))
        .status()
        .expect("a shell");
    assert!(status.success());
    assert!(contents(&victim) == before);
    // A set that is not ours, behind a link, is neither moved nor replaced.
    std::os::unix::fs::symlink(&victim, target.join(".reduce-pending")).expect("a link");
    let read = reduce()
        .args(["eval", "model.json", "--at", "0"])
        .current_dir(&target)
        .output()
        .expect("the binary");
    assert!(read.status.success(), "{read:?}");
    assert!(contents(&victim) == before);
}
