//! Stored second-order terms on spatial arms.

use crate::support::{reducer, stored};
use reducer::model::ActuatorMotion;
use reducer::reduced_model::{Evaluator, Workspace};

/// Two slender links on a turning column, the second raised by an elbow.
const ARM: &str = r#"
format = 1
name = "arm"
gravity = [0, 0, -9.81]
[material.m]
density = 2700
young = "70 GPa"
poisson = 0.3
[section.s]
rectangle = { height = 0.012, width = 0.008 }
[[body]]
name = "column"
rigid = { mass = 3, center_of_mass = [0, 0, 0], inertia = [0.02, 0.02, 0.02] }
[[body]]
name = "upper"
beam = { from = [0, 0, 0.3], to = ["0.6*cos(0.4)", 0, "0.3 + 0.6*sin(0.4)"], elements = 6, section = "s", material = "m", up = [0, 0, 1] }
[[body]]
name = "lower"
beam = { from = ["0.6*cos(0.4)", 0, "0.3 + 0.6*sin(0.4)"], to = ["1.1*cos(0.4)", 0, "0.3 + 0.1*sin(0.4)"], elements = 6, section = "s", material = "m", up = [0, 0, 1] }
[[joint]]
name = "turn"
hinge = ["ground", "column"]
at = [0, 0, 0]
axis = [0, 0, 1]
[[joint]]
name = "shoulder"
hinge = ["column", "upper.from"]
axis = [0, -1, 0]
[[joint]]
name = "elbow"
hinge = ["upper.to", "lower.from"]
axis = [0, -1, 0]
[[point_mass]]
at = "lower.to"
mass = 0.1
[[coordinate]]
name = "yaw"
drives = "turn"
range = [-0.1, 0.1]
rate = 12
[[coordinate]]
name = "lift"
drives = "shoulder"
range = [0.35, 0.45]
home = 0.4
rate = 2
[[coordinate]]
name = "bend"
drives = "elbow"
range = [-0.85, -0.75]
home = -0.8
rate = 2
[reduction]
internal_modes = 6
"#;

/// While the column turns at a constant rate the state is steady, and the full model's frequencies about it are exact:
/// droop, centrifugal forces and Coriolis terms in space.
#[test]
fn a_spatial_arm_that_turns_has_the_frequencies_of_the_full_model() {
    let model = stored(ARM);
    assert!(model.layout.stiffening == reducer::reduced_model::Stiffening::All);
    let evaluator = Evaluator::new(&model).expect("valid");
    let exact = reducer(ARM);
    let theta = [0.03, 0.42, -0.79];
    let still = reducer(&ARM.replace(
        "internal_modes = 6",
        "internal_modes = 6\nstiffening = false",
    ));
    assert!(still.effects().rate > 0.05);
    for (spin, limit) in [(0.0, 1e-3), (6.0, 1e-3), (12.0, 5e-3)] {
        let rate = [spin, 0.0, 0.0];
        let motion = ActuatorMotion {
            rate: &rate,
            acceleration: &[0.0; 3],
        };
        let full = exact
            .loaded_frequencies(&theta, motion, 3)
            .expect("regular");
        assert!(full.steady);
        let found = evaluator
            .loaded_frequencies_hz(&theta, &rate, &[0.0; 3], &mut Workspace::default())
            .expect("sizes")
            .expect("an equilibrium");
        for (i, (found, full)) in found.iter().zip(&full.frequencies_hz).enumerate() {
            let error = found / full - 1.0;
            if std::env::var("SHOW").is_ok() {
                eprintln!("spatial arm at {spin} rad/s: {full:.3} Hz, {error:.1e}");
            }
            assert!(error.abs() < limit, "{spin} rad/s, mode {i}: {error:.1e}");
        }
    }
}
