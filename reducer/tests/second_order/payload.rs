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

/// Difference of forces, as a part of what they are.
fn apart(given: &Evaluator, fixed: &Evaluator, size: f64) -> f64 {
    let mut work = Workspace::default();
    let scaled = |v: [f64; 3]| v.map(|x| size * x);
    let state = |first: f64, v: [f64; 3]| [&[first], &scaled(v)[..]].concat();
    // Amplitudes are forces (N): a newton at the tip bends the link by 0.3 m.
    let eta = state(0.03, [2.0, -1.5, 1.0]);
    let rate = state(2.5, [1.0, 2.0, -1.0]);
    let accel = state(1.5, [-3.0, 1.0, 2.0]);
    let [given, fixed] = [given, fixed].map(|e| {
        let mut force = vec![0.0; 4];
        let status = e.inverse_dynamics(&eta, &rate, &accel, &mut force, &mut work);
        assert_eq!(status.expect("sizes") as i32, 0);
        force
    });
    let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|x| x * x).sum::<f64>().sqrt();
    let difference = norm(&mut given.iter().zip(&fixed).map(|(a, b)| a - b));
    difference / norm(&mut fixed.iter().copied())
}

/// Both hold all of second order, so that forces agree where nothing is bent. A payload that is given moves on its quadratic
/// path exactly, one in the file to second order of the energy: forces part with the second power of the deflection.
#[test]
fn forces_of_a_payload_as_parameter_are_those_of_the_file_to_second_order() {
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
    let [rest, small, large] = [0.0, 1e-2, 1e-1].map(|size| apart(&given, &fixed, size));
    assert!(rest < 1e-10, "{rest:.1e}");
    let order = (large / small).log10();
    assert!(order > 1.9, "order {order}: {small:.1e}, {large:.1e}");
}
