//! Single blocks against closed forms, in both models.

use crate::support::{load_loop, run_full, run_reduced, try_reduced};
use reducer::dynamics::full::FullError;
use std::f64::consts::TAU;

fn scenario(blocks: &str) -> String {
    format!(
        r#"
format = 1
mechanism = "FIXTURES/two_mass.toml"
duration = 0.5
[[sensor]]
name = "x"
coordinate = "motor"
{blocks}
[[drive]]
coordinate = "motor"
force = "wave"
[sampling]
step = 0.013
[full]
step = 1e-3
[reduced]
tolerance = 1e-10
"#
    )
}

const WAVE: &str = r#"
[[block]]
name = "wave"
signal = { sine = { amplitude = 1, frequency = 2 } }
"#;

fn wave(time: f64) -> f64 {
    (TAU * 2.0 * time).sin()
}

/// Signals of both models at every row, by name.
fn signals(text: &str, names: &[&str]) -> Vec<(f64, Vec<f64>)> {
    let scenario = load_loop(text);
    let places: Vec<usize> = names
        .iter()
        .map(|n| scenario.signal(n).unwrap_or_else(|| panic!("{n}")))
        .collect();
    let full = run_full(&scenario).unwrap();
    let reduced = run_reduced(&scenario);
    assert_eq!(full.len(), reduced.len());
    let pick = |all: &[f64]| places.iter().map(|p| all[*p]).collect::<Vec<f64>>();
    let both = full.iter().map(|i| (i.time, pick(&i.signals)));
    both.chain(reduced.iter().map(|i| (i.time, pick(&i.signals))))
        .collect()
}

/// The instant at which a block of this period acted last; nothing acts at the end of the run.
fn sampled(time: f64, period: f64) -> f64 {
    let count = (time / period + 1e-9).floor();
    period * count.min((0.5 / period).round() - 1.0)
}

#[test]
fn delay_lookup_quantiser_and_noise_are_what_they_say() {
    let text = scenario(&format!(
        r#"{WAVE}
[[block]]
name = "late"
delay = {{ samples = 3 }}
sampled = {{ period = 0.01 }}
input = "wave"
[[block]]
name = "rough"
quantiser = 0.25
sampled = {{ period = 0.01 }}
input = "wave"
[[block]]
name = "line"
lookup = [[-0.5, -1], [0, 0], [0.5, 3]]
input = "wave"
[[block]]
name = "approximate"
delay = {{ time = "20 ms", order = 6 }}
input = "wave"
[[sensor]]
name = "noisy"
coordinate = "load"
noise = {{ deviation = 0.1, period = 0.005, seed = 3 }}
"#
    ));
    let names = [
        "late",
        "rough",
        "line",
        "approximate",
        "noisy",
        "noisy.true",
        "noisy.noise",
    ];
    let mut seen = Vec::new();
    for (time, values) in signals(&text, &names) {
        let at = sampled(time, 0.01);
        let [late, rough, line, approximate, noisy, clean, noise] = values[..] else {
            panic!()
        };
        let expected = if at > 0.0299 { wave(at - 0.03) } else { 0.0 };
        assert!((late - expected).abs() < 1e-12, "{time}: {late} {expected}");
        let expected = 0.25 * (wave(at) / 0.25).round();
        assert!(
            (rough - expected).abs() < 1e-12,
            "{time}: {rough} {expected}"
        );
        let u = wave(time).clamp(-0.5, 0.5);
        let expected = if u < 0.0 { 2.0 * u } else { 6.0 * u };
        assert!((line - expected).abs() < 1e-12, "{time}: {line} {expected}");
        // A rational delay has forgotten its start after a few of its times.
        if time > 0.2 {
            assert!((approximate - wave(time - 0.02)).abs() < 1e-4, "{time}");
        }
        assert!((noisy - clean - noise).abs() < 1e-15);
        seen.push((sampled(time, 0.005), noise));
    }
    let (full, reduced) = seen.split_at(seen.len() / 2);
    assert_eq!(full, reduced, "the same numbers in both models");
    let distinct: std::collections::BTreeSet<u64> = full.iter().map(|s| s.1.to_bits()).collect();
    assert!(distinct.len() > 30);
    assert!(full.iter().all(|s| s.1.abs() < 0.5));
}

/// İ = ki·e + (limit − raw)/τ while the output is limited, and back without delay when e turns.
#[test]
fn anti_windup_follows_its_differential_equation() {
    let (kp, ki, tracking, limit) = (2.0, 30.0, 0.05, 1.5);
    let law = |more: &str| {
        scenario(&format!(
            r#"{WAVE}
[[block]]
name = "error"
signal = [1, {{ step = {{ at = 0.25, value = -2 }} }}]
[[block]]
name = "pid"
pid = {{ kp = {kp}, ki = {ki}, limits = [-{limit}, {limit}], tracking = {tracking} }}
input = "error"
{more}"#
        ))
    };
    // kp alone is beyond the limit, so that the integral follows (limit − raw)/τ until the error turns; then
    // the output leaves the limit at once and falls with ki to the other one.
    let settled = limit + ki * tracking - kp;
    let integral = |t: f64| settled * (1.0 - (-t / tracking).exp());
    let output = |t: f64| {
        if t < 0.25 {
            limit
        } else {
            (integral(0.25) - kp - ki * (t - 0.25)).max(-limit)
        }
    };
    for (time, values) in signals(&law(""), &["pid"]) {
        let expected = output(time);
        assert!(
            (values[0] - expected).abs() < 2e-4,
            "t = {time}: {} {expected}",
            values[0]
        );
    }
    // The discrete law, computed anew.
    let period = 0.002;
    let mut by_sample = Vec::new();
    let mut i = 0.0;
    for k in 0..=250 {
        let e = if f64::from(k) * period < 0.25 - 1e-9 {
            1.0
        } else {
            -1.0
        };
        i += ki * period * e;
        let raw: f64 = kp * e + i;
        let out = raw.clamp(-limit, limit);
        i += period / tracking * (out - raw);
        by_sample.push(out);
    }
    let text = law("sampled = { period = 0.002 }");
    for (time, values) in signals(&text, &["pid"]) {
        // Nothing acts at the end of the run.
        let k = ((time / period + 1e-9).floor() as usize).min(249);
        let expected = by_sample[k];
        assert!(
            (values[0] - expected).abs() < 1e-9,
            "t = {time}: {} {expected}",
            values[0]
        );
    }
}

/// Values and slopes that are not finite are blamed on their block, from the first instant on.
#[test]
fn blocks_without_a_value_or_slope_are_named() {
    for (expression, fact) in [
        ("log(x)", "block `bad` gives -inf"),
        ("x/x", "block `bad` gives NaN"),
        ("sqrt(x)", "block `bad`"),
    ] {
        let blocks = format!(
            "{WAVE}\n[[block]]\nname = \"bad\"\nexpression = \"{expression}\"\ninput = \"x\"\n"
        );
        let text = scenario(&blocks).replace("force = \"wave\"", "force = [\"wave\", \"bad\"]");
        let scenario = load_loop(&text);
        match run_full(&scenario) {
            Err(error @ FullError::Control { .. }) => {
                assert!(error.to_string().contains(fact), "{error}");
            }
            other => panic!("{expression}: {:?}", other.map(|seen| seen.len())),
        }
        if expression != "sqrt(x)" {
            let error = try_reduced(&scenario).unwrap_err();
            assert!(error.to_string().contains(fact), "{error}");
        }
    }
}
