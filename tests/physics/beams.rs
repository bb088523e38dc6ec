//! Beams: cantilever frequencies, large deflections in the plane and in space.

use crate::support::{assert_close, mechanism_from, numbers, reference};
use reducer::lie::Frame;
use reducer::reduction::LocalReducer;

const SECTION: &str = r#"
[material.alloy]
density = 2700
young = 70e9
poisson = 0.3
[section.bar]
area = 3e-4
inertia_y = 1e-8
inertia_z = 5.625e-9
torsion = 1.2e-8
polar_inertia = 1.5625e-8
shear_factor = "5/6"
"#;

/// A beam whose root hinge is actuated: with the actuator locked it is clamped.
fn cantilever(elements: usize, section: &str, load: &str) -> LocalReducer {
    let text = format!(
        r#"format = 1
gravity = [0, 0, 0]
{section}
[[body]]
name = "beam"
beam = {{ from = [0, 0, 0], to = [1, 0, 0], elements = {elements}, section = "bar", material = "alloy", side = [0, 1, 0] }}
[[joint]]
name = "root"
hinge = ["ground", "beam.from"]
axis = [0, -1, 0]
[[coordinate]]
name = "root"
drives = "root"
range = [-1, 1]
{load}
"#
    );
    LocalReducer::new(&mechanism_from(&text)).expect("a cantilever")
}

/// Euler-Bernoulli theory from below (shear and rotary inertia soften): slender modes agree within
/// the size of the neglected terms, about (mode number · height / length)². Torsion and extension,
/// with linear shapes, come from above by the mesh error.
#[test]
fn cantilever_frequencies() {
    let expected = numbers(&reference("beams.json")["cantilever"]["euler_bernoulli_hz"]);
    let found = cantilever(32, SECTION, "")
        .locked_frequencies_hz(&[0.0], 10)
        .expect("clamped");
    for (i, (f, e)) in found.iter().zip(&expected).enumerate() {
        let order = (i / 2 + 1) as f64;
        let slack = 3e-3 * order * order;
        assert!(
            *f < e * (1.0 + 2e-4) && *f > e * (1.0 - slack),
            "mode {i}: {f} Hz for {e} Hz"
        );
    }
}

/// With shear and axial deformation suppressed, and rotary inertia negligible, Euler-Bernoulli.
#[test]
fn slender_cantilever_frequencies_converge_fast() {
    let slender = SECTION.replace("shear_factor = \"5/6\"", "shear_factor = 1e6");
    let expected = numbers(&reference("beams.json")["cantilever"]["euler_bernoulli_hz"]);
    let error = |elements: usize| {
        let found = cantilever(elements, &slender, "")
            .locked_frequencies_hz(&[0.0], 4)
            .expect("clamped");
        found
            .iter()
            .zip(&expected)
            .fold(0.0_f64, |m, (f, e)| m.max((f / e - 1.0).abs()))
    };
    // Rotary inertia alone remains: (π·radius of gyration·…)², below 1e-3 for these modes.
    assert!(error(16) < 1e-3, "{}", error(16));
}

fn tip(reducer: &LocalReducer) -> (Frame, usize) {
    let start = reducer.model().node_frames(&[Frame::identity()]);
    let equilibrium = reducer.model().equilibrium(&start).expect("equilibrium");
    (
        *equilibrium.frames.last().expect("nodes"),
        equilibrium.iterations,
    )
}

/// EA and GA effectively infinite, 16 elements: within 1e-3 of elliptic integrals (observed 2e-5).
#[test]
fn elastica() {
    let stiff = SECTION
        .replace("shear_factor = \"5/6\"", "shear_factor = 1e3")
        .replace("area = 3e-4", "area = 0.03");
    let mut worst = 0.0_f64;
    for sample in reference("beams.json")["elastica"]
        .as_array()
        .expect("samples")
    {
        let number = |key: &str| sample[key].as_f64().expect("a number");
        let force = number("PL2_over_EI") * 70e9 * 1e-8;
        let load = format!("[[load]]\nname = \"P\"\nat = \"beam.to\"\nforce = [0, 0, {force:e}]\n");
        let (frame, _) = tip(&cantilever(16, &stiff, &load));
        let slope = frame.rotation[(2, 0)].atan2(frame.rotation[(0, 0)]);
        for (found, expected) in [
            (frame.position.z, number("tip_deflection_over_L")),
            (frame.position.x, number("tip_x_over_L")),
            (slope, number("tip_slope_rad")),
        ] {
            worst = worst.max((found - expected).abs());
        }
    }
    assert!(worst < 1e-4, "worst {worst:.1e}");
}

/// The 45° bend: a curved beam loaded out of its plane.
#[test]
fn bend_of_45_degrees() {
    for (force, key) in [(300.0, "P300"), (600.0, "P600")] {
        let text = format!(
            r#"format = 1
gravity = [0, 0, 0]
[material.soft]
density = 1
young = 1e7
shear = 5e6
[section.square]
area = 1
inertia_y = "1/12"
inertia_z = "1/12"
torsion = "1/6"
polar_inertia = "1/6"
shear_factor = "5/6"
[[body]]
name = "bend"
beam = {{ from = [0, 0, 0], through = ["100*(1 - cos(22.5 deg))", "100*sin(22.5 deg)", 0], to = ["100*(1 - cos(45 deg))", "100*sin(45 deg)", 0], elements = 16, section = "square", material = "soft", up = [0, 0, 1] }}
[[joint]]
name = "root"
hinge = ["ground", "bend.from"]
axis = [0, 0, 1]
[[coordinate]]
name = "root"
drives = "root"
range = [-1, 1]
[[load]]
name = "P"
at = "bend.to"
force = [0, 0, {force}]
"#
        );
        let mechanism = mechanism_from(&text);
        let reducer = LocalReducer::new(&mechanism).expect("a bend");
        let home = mechanism.bodies[0].frame;
        let start = reducer.model().node_frames(&[home]);
        let equilibrium = reducer.model().equilibrium(&start).expect("equilibrium");
        let found = equilibrium.frames.last().expect("nodes").position;
        let undeformed = start.last().expect("nodes").position;
        assert_close(
            "undeformed tip",
            undeformed.as_slice(),
            &[29.289_321_881, 70.710_678_118, 0.0],
            1e-9,
        );
        let expected =
            nalgebra::Vector3::from_vec(numbers(&reference("beams.json")["bend45"][key]));
        let error = (found - expected).norm() / (expected - undeformed).norm();
        assert!(error < 3e-3, "{key}: {error:.2e} at {found}");
    }
}
