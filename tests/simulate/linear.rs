//! `reduce linear`: poles, zeros and responses against independent linear algebra.

use crate::support::{reduce_in, reduce_mechanism, scenario_file, shown};
use reducer::description::load;
use reducer::dynamics::full::{Initial, Start};
use reducer::dynamics::linear::Root;
use reducer::dynamics::reduced::{ReducedSettings, linearise};
use reducer::dynamics::scenario;
use reducer::reduced_model::{Evaluator, ReducedModel, Workspace};
use serde_json::Value;
use std::f64::consts::TAU;
use std::path::Path;
use std::sync::OnceLock;

/// Rates per input of the drives, as in data/reference/control.json.
const G_HYDR: [f64; 2] = [0.0236, 0.0265];

fn ralf() -> &'static ReducedModel {
    static MODEL: OnceLock<ReducedModel> = OnceLock::new();
    MODEL.get_or_init(|| {
        let mut mechanism = load(Path::new("data/ralf.toml")).unwrap();
        mechanism.gravity.fill(0.0);
        reduce_mechanism(&mechanism)
    })
}

/// (1/G^hydr)(M^δθ)⁻¹ diag(2ξω) at home [T 6.10-6.27, η^δ fed back directly].
fn fast_gains(xi: f64) -> [[f64; 2]; 2] {
    let evaluator = Evaluator::new(ralf()).unwrap();
    let document = evaluator
        .document(&[0.0, 0.0], &mut Workspace::default())
        .unwrap();
    let m = &document.mass;
    let (a, b, c, d) = (m[2][0], m[2][1], m[3][0], m[3][1]);
    let det = a * d - b * c;
    let inverse = [[d / det, -b / det], [-c / det, a / det]];
    let omega = [0, 1].map(|k| TAU * document.frequencies_hz[k]);
    [0, 1].map(|i| [0, 1].map(|j| inverse[i][j] * 2.0 * xi * omega[j] / G_HYDR[i]))
}

/// The loops of chapter 6 without gravity: slow, and fast with what `filters` makes of it.
fn loops(fast: Option<&str>) -> String {
    let mut text = String::from(
        r#"
format = 1
mechanism = "DATA/ralf.toml"
duration = 1
[override]
gravity = [0, 0, 0]
"#,
    );
    for k in [1, 2] {
        let gain = [3.5e5, 3.0e5][k - 1];
        let input = if fast.is_some() {
            format!("[\"v{k}\", \"w{k}\"]")
        } else {
            format!("\"v{k}\"")
        };
        text += &format!(
            r#"
[[sensor]]
name = "x{k}"
coordinate = "cylinder{k}"
[[sensor]]
name = "e{k}"
modal = {k}
[[block]]
name = "p{k}"
gain = -400
input = "x{k}"
[[block]]
name = "v{k}"
butterworth = {{ low_pass = "100 Hz", order = 2 }}
input = "p{k}"
[[drive]]
coordinate = "cylinder{k}"
velocity_feedback = {{ gain = {gain}, input_gain = {}, input = {input} }}
"#,
            G_HYDR[k - 1]
        );
    }
    if let Some(filters) = fast {
        let gains = fast_gains(0.1);
        text += &format!("[[block]]\nname = \"g\"\ngains = {gains:?}\ninput = [\"e1\", \"e2\"]\n");
        for k in [1, 2] {
            text += &filters
                .replace("INPUT", &format!("g.{k}"))
                .replace('#', &k.to_string());
        }
    }
    text
}

fn poles(text: &str) -> Vec<Root> {
    let (_folder, path) = scenario_file("loops.toml", text);
    let scenario = scenario::load(&path).unwrap_or_else(|f| panic!("{:?}", f.faults));
    let evaluator = Evaluator::new(ralf()).unwrap();
    let at = Initial {
        theta: vec![0.0; 2],
        rate: vec![0.0; 2],
        start: Start::Equilibrium,
    };
    let settings = ReducedSettings::new(1.0, 1e-6);
    linearise(&evaluator, &scenario.drives, &at, &settings)
        .unwrap()
        .poles()
}

/// The continuous law, η^δ fed back directly and gravity off: 1 % in frequency, 0.01 in damping.
#[test]
fn poles_of_the_ralf_like_loops_at_home() {
    let text = std::fs::read_to_string("data/reference/control.json").unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let home = &all["ralf_like_chapter_6_home"]["home"];
    let high = "[[block]]\nname = \"w#\"\nbutterworth = { high_pass = \"0.1 Hz\", order = 4 }\ninput = \"f#\"\n";
    let a = "[[block]]\nname = \"f#\"\nbutterworth = { band_pass = [\"1 Hz\", \"25 Hz\"], order = 2 }\ninput = \"INPUT\"\n";
    let b = "[[block]]\nname = \"f#\"\nbutterworth = { band_pass = [\"1.6 Hz\", \"16 Hz\"], order = 1 }\ninput = \"INPUT\"\n";
    let plain = "[[block]]\nname = \"w#\"\ngain = 1\ninput = \"INPUT\"\n";
    for (case, filters) in [
        ("slow_loop_alone", None),
        ("fast_no_filter_xi_0.1", Some(plain.to_owned())),
        ("filter_A_HP_xi_0.1", Some(format!("{a}{high}"))),
        ("filter_B_HP_xi_0.1", Some(format!("{b}{high}"))),
    ] {
        let found = poles(&loops(filters.as_deref()));
        let reference = &home[case];
        for pair in reference["pairs_hz_zeta"].as_array().unwrap() {
            let (frequency, damping) = (pair[0].as_f64().unwrap(), pair[1].as_f64().unwrap());
            let near = found.iter().filter(|p| p.at.im > 0.0).any(|p| {
                (p.frequency_hz() / frequency - 1.0).abs() < 0.01
                    && (p.damping() - damping).abs() < 0.01
            });
            assert!(
                near,
                "{case}: no pole near {frequency} Hz, {damping}: {found:?}"
            );
        }
        for real in reference["real_poles_hz"].as_array().unwrap() {
            let frequency = real.as_f64().unwrap();
            let near = found.iter().filter(|p| p.at.im == 0.0 && p.at.re < 0.0);
            let near = near
                .into_iter()
                .any(|p| (p.frequency_hz() / frequency - 1.0).abs() < 0.01);
            assert!(near, "{case}: no real pole near {frequency} Hz: {found:?}");
        }
        assert!(found.iter().all(|p| p.at.re < 0.0), "{case}");
    }
}

/// Poles of the two masses under the analog controller, from the reference.
#[test]
fn poles_of_a_linear_plant_with_a_controller() {
    let text = std::fs::read_to_string("data/reference/control.json").unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let case = &all["linear_plant_with_pid"]["cases"]["P1_continuous_pid"];
    let fixtures = std::fs::canonicalize("tests/fixtures").unwrap();
    let scenario = r#"
format = 1
mechanism = "FIXTURES/two_mass.toml"
duration = 2
[[sensor]]
name = "x"
coordinate = "motor"
[[block]]
name = "wanted"
signal = 0
[[block]]
name = "pid"
pid = { kp = 200, ki = 300, kd = 20, filter = 0.002 }
input = ["wanted", "-x"]
[[drive]]
coordinate = "motor"
force = "pid"
"#
    .replace("FIXTURES", fixtures.to_str().unwrap());
    let (folder, _path) = scenario_file("masses.toml", &scenario);
    let arguments = [
        "linear",
        "masses.toml",
        "--json",
        "--from",
        "control.wanted",
        "--to",
        "coordinate.load",
        "--band",
        "0.01,10,31",
        "--locus",
        "pid",
        "--multiples",
        "0,1,3",
        "-o",
        "out",
    ];
    let output = reduce_in(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    // Once more: all that stands there is the command's own.
    let output = reduce_in(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
    let near = |list: &Value, re: f64, im: f64| {
        list.as_array().unwrap().iter().any(|p| {
            let (a, b) = (
                p["re"].as_f64().unwrap() - re,
                p["im"].as_f64().unwrap() - im,
            );
            a.hypot(b) < 1e-7 * re.hypot(im)
        })
    };
    for pole in case["closed_loop_poles"].as_array().unwrap() {
        let (re, im) = (pole[0].as_f64().unwrap(), pole[1].as_f64().unwrap());
        assert!(
            near(&found["poles"], re, im),
            "{re} {im}: {}",
            found["poles"]
        );
    }
    // The loop follows slow references, and the damper's zero −k/c is on the way to the load.
    let response = &found["response"];
    let first = [
        response["re"][0].as_f64().unwrap(),
        response["im"][0].as_f64().unwrap(),
    ];
    assert!(
        (first[0] - 1.0).abs() < 0.02 && first[1].abs() < 0.1,
        "{first:?}"
    );
    assert!(near(&found["zeros"], -1000.0, 0.0), "{}", found["zeros"]);
    // Without the controller the masses float and swing against each other.
    let free = &found["locus"][0]["poles"];
    let omega = (400.0_f64 * 3.0).sqrt();
    let decay = 0.5 * 0.4 * 3.0;
    assert!(
        near(free, -decay, (omega * omega - decay * decay).sqrt()),
        "{free}"
    );
    for file in ["linear.json", "poles.svg", "bode.svg"] {
        assert!(folder.path().join("out").join(file).is_file(), "{file}");
    }
    let output = reduce_in(folder.path(), &["linear", "masses.toml", "--locus", "pidd"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        shown(&output.stderr).contains("did you mean `pid`"),
        "{}",
        shown(&output.stderr)
    );
}
