//! A payload given as a parameter against the same payload fixed in the file, on a link whose shapes are static ones and
//! so the same whatever it carries.

use crate::support::{read, stored};
use reducer::reduced_model::{Evaluator, Parameters, ReducedModel, Workspace};

const MASS: f64 = 0.3;

/// The link bends as forces at its tip and its middle do; gravity loads it.
fn link(mass: f64, runtime: bool) -> ReducedModel {
    let changes = [
        ("gravity = [0, 0, 0]", "gravity = [-0.3, -0.2, 0.1]"),
        (
            "[parameters]",
            &*format!("[parameters]\nm = {{ value = {mass}, runtime = {runtime} }}"),
        ),
        (
            "drives = \"hub\"",
            "drives = \"hub\"\nrange = [-0.1, 0.1]\nrate = 3",
        ),
        (
            "internal_modes = { in_plane = \"xy\", count = 3 }",
            "internal_modes = 0\nstiffening = true\n[approximation]\ntolerance = 1e-11\nlargest = false",
        ),
    ];
    let text = changes
        .iter()
        .fold(read("data/one_link.toml"), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replace(from, to)
        });
    let more = "\n[[point_mass]]\nat = \"link.to\"\nmass = \"m\"\n\
                [[loaded]]\nname = \"tip\"\nat = \"link.to\"\ndirection = [0, 1, 0]\nkind = \"attachment\"\n\
                [[loaded]]\nname = \"middle\"\nat = \"link.node8\"\ndirection = [0, 1, 0]\nkind = \"attachment\"\n\
                [[loaded]]\nname = \"across\"\nat = \"link.to\"\ndirection = [0, 0, 1]\nkind = \"attachment\"\n";
    // Lists of tables must not stand inside `[reduction]`.
    let (head, settings) = text.split_once("[reduction]").expect("a section");
    stored(&format!("{head}{more}\n[reduction]{settings}"))
}

/// Differences of forces and of A, as parts of what they are.
fn apart(given: &Evaluator, fixed: &Evaluator, size: f64) -> [f64; 2] {
    let mut work = Workspace::default();
    let scaled = |v: [f64; 3]| v.map(|x| size * x);
    let state = |first: f64, v: [f64; 3]| [&[first], &scaled(v)[..]].concat();
    // Amplitudes are forces (N): a newton at the tip bends the link by 0.3 m.
    let eta = state(0.03, [2.0, -1.5, 1.0]);
    let rate = state(2.5, [1.0, 2.0, -1.0]);
    let accel = state(1.5, [-3.0, 1.0, 2.0]);
    let mut out = Vec::new();
    for e in [given, fixed] {
        let mut force = vec![0.0; 4];
        let status = e.inverse_dynamics(&eta, &rate, &accel, &mut force, &mut work);
        assert_eq!(status.expect("sizes") as i32, 0);
        out.push((force, Vec::new()));
    }
    // The same force on both.
    let force = out[1].0.clone();
    for (e, out) in [given, fixed].into_iter().zip(&mut out) {
        let (linear, status) = e.linearize(&eta, &rate, &force, &mut work).expect("sizes");
        assert_eq!(status as i32, 0);
        out.1 = linear.a;
    }
    let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|x| x * x).sum::<f64>().sqrt();
    let part = |a: &[f64], b: &[f64]| {
        norm(&mut a.iter().zip(b).map(|(a, b)| a - b)) / norm(&mut b.iter().copied())
    };
    [part(&out[0].0, &out[1].0), part(&out[0].1, &out[1].1)]
}

/// Both hold all of second order, so that forces and their derivatives agree where nothing is bent. A payload that is
/// given moves on its quadratic path exactly, one in the file to second order of the energy: in what is bent they part
/// with the third power of the deflection in forces on δ and with the second in A.
#[test]
fn a_payload_as_parameter_is_the_payload_of_the_file_to_second_order() {
    let (free, fixed) = (link(0.0, true), link(MASS, false));
    let parameters = Parameters {
        payload_mass: vec![MASS],
        ..Parameters::nominal(&free.layout)
    };
    let given = Evaluator::new(&free)
        .expect("valid")
        .with_parameters(parameters)
        .expect("sizes");
    let fixed = Evaluator::new(&fixed).expect("valid");
    let found = [0.0, 1e-2, 1e-1].map(|size| apart(&given, &fixed, size));
    assert!(found[0].iter().all(|x| *x < 1e-10), "{found:?}");
    for k in 0..2 {
        let order = (found[2][k] / found[1][k]).log10();
        assert!(order > 1.9, "order {order}: {found:?}");
    }
}
