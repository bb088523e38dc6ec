//! Debian's chromium without a window, driven by chromedriver. A page is shown in a frame of the
//! wanted width, and `probe.js` beside the frame uses it as a reader would.

use crate::driver::Driver;
use crate::tools::CHROMIUM;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const NAMES: [&str; 2] = ["chromium", "chromium-browser"];
const FLAGS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
];
/// A page that says nothing for so long hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the probe saw.
#[derive(Debug, Default, Deserialize)]
pub struct Findings {
    /// Errors, of the page and of the probe.
    pub problems: Vec<String>,
    /// Width of the page.
    pub width: usize,
    /// Width of its content.
    pub content_width: usize,
    /// Resources that were asked for.
    pub requests: usize,
    /// Number of charts.
    pub charts: usize,
    /// Names of charts without curves or tiles.
    pub empty_charts: Vec<String>,
    /// Per slider: it moves the drawing.
    pub sliders: Vec<bool>,
    /// Per mode: it is animated.
    pub modes: Vec<bool>,
    /// The arrow keys turn the drawing.
    pub turned_by_key: bool,
    /// Controls and pictures without a text alternative.
    pub without_name: Vec<String>,
    /// Blocks of coefficients with a plot of their error.
    pub blocks_with_errors: Vec<String>,
    /// Configurations that the map of the domain shows.
    pub domain_marks: usize,
    /// Largest distance between outputs of the mechanism as the page closes it and of the full
    /// model (m); none without a full model.
    pub closure_error: Option<f64>,
    /// The page says that there is no full model.
    pub says_what_is_missing: bool,
    /// What the page says of its own errors.
    pub trouble: String,
}

/// A browser of this machine.
pub struct Browser {
    name: &'static str,
    artefacts: PathBuf,
}

impl Browser {
    /// Finds one; without it the test is skipped, or fails where tools are required.
    pub fn find() -> Option<Self> {
        if !CHROMIUM.is_done() {
            return None;
        }
        let runs = |name: &&str| Command::new(name).arg("--version").output().is_ok();
        let name = NAMES.into_iter().find(runs)?;
        let artefacts = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
        std::fs::create_dir_all(&artefacts).expect("the target folder");
        Some(Self { name, artefacts })
    }

    /// Uses a page at a width; leaves the page, and pictures of it, in `target/tmp/report`.
    #[track_caller]
    pub fn visit(&self, name: &str, html: &str, width: usize) -> Findings {
        let wrapper = |height: usize, script: &str| {
            format!(
                "<!doctype html><meta charset=\"utf-8\"><body style=\"margin:0\"><iframe id=\"page\" style=\"border:0;width:{width}px;height:{height}px\" srcdoc=\"{}\"></iframe><pre id=\"findings\"></pre><script>{script}</script>",
                html.replace('&', "&amp;").replace('"', "&quot;")
            )
        };
        let probe = self.artefacts.join(format!("{name}-probe.html"));
        std::fs::write(&probe, wrapper(900, include_str!("probe.js"))).expect("the target folder");
        let found = self.probe(name, &probe);

        let height = if width < 500 { 5200 } else { 3600 };
        let shown = self.artefacts.join(format!("{name}-shown.html"));
        std::fs::write(&shown, wrapper(height, "")).expect("the target folder");
        let picture = self.artefacts.join(format!("{name}.png"));
        let screenshot = format!("--screenshot={}", picture.display());
        let size = format!("--window-size={},{height}", width.max(500));
        self.screenshot(&shown, &[&screenshot, &size, "--virtual-time-budget=3000"]);
        assert!(picture.is_file(), "{name}: no picture");
        found
    }

    /// Waits for the findings of a page with the probe, and adds what its console says.
    #[track_caller]
    fn probe(&self, name: &str, file: &Path) -> Findings {
        let profile = tempfile::tempdir().expect("a temporary folder");
        let mut flags: Vec<String> = FLAGS.iter().map(ToString::to_string).collect();
        flags.push("--window-size=1440,1000".to_owned());
        flags.push(format!("--user-data-dir={}", profile.path().display()));
        let mut driver = Driver::start(&flags);
        driver.open(file);
        let start = Instant::now();
        let text = loop {
            let text = driver.evaluate("return document.getElementById('findings').textContent");
            let text = text.as_str().unwrap_or_default().to_owned();
            if !text.is_empty() {
                break text;
            }
            assert!(start.elapsed() < PATIENCE, "{name}: no findings");
            std::thread::sleep(Duration::from_millis(50));
        };
        let mut found: Findings =
            serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}: {text}"));
        // Every message of a page's console is one too many.
        found.problems.extend(driver.console());
        found
    }

    fn screenshot(&self, file: &Path, flags: &[&str]) {
        let profile = tempfile::tempdir().expect("a temporary folder");
        let output = Command::new(self.name)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(flags)
            .arg(format!("file://{}", file.display()))
            .output();
        output.unwrap_or_else(|e| panic!("{}: {e}", self.name));
    }
}
