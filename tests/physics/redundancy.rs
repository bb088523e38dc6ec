//! Redundant constraints whose choice at home does not serve elsewhere.
//!
//! A parallelogram with a third leg. The equations of two loops are one too many; which of them is
//! left out matters: the third leg is held by the equation across its direction, and where it
//! points along z the other one says nothing.

use crate::support::{assert_close, mechanism_from};
use reducer::reduction::{
    KinematicsError, LocalReducer, ModelError, ReductionError, SingularityKind,
};

const LEG: f64 = 0.3;
const LEG_MASS: f64 = 0.3;
const PLATE_MASS: f64 = 1.0;

/// Three parallel legs from pivots on the ground to a plate, drawn at an angle in degrees.
fn three_legs(home: f64, range: [f64; 2], first_leg: &str) -> String {
    let pivots = [[0.0, 0.0], [0.4, 0.0], [0.9, 0.2]];
    let (sin, cos) = home.to_radians().sin_cos();
    let ends = pivots.map(|[x, z]| [x + LEG * cos, z + LEG * sin]);
    let place = |[x, z]: [f64; 2]| format!("[{x:e}, 0, {z:e}]");
    let mut text = "format = 1\ngravity = [0, 0, -9.81]\n".to_owned();
    for (i, (pivot, end)) in pivots.iter().zip(&ends).enumerate() {
        let (from, to) = (place(*pivot), place(*end));
        text += &match i {
            0 => format!(
                "[[body]]\nname = \"leg_0\"\n{}\n",
                first_leg.replace("ENDS", &format!("from = {from}, to = {to}"))
            ),
            _ => format!(
                "[[body]]\nname = \"leg_{i}\"\nrod = {{ from = {from}, to = {to}, mass = {LEG_MASS} }}\n"
            ),
        };
    }
    text += &format!(
        "[[body]]\nname = \"plate\"\nat = {}\nrigid = {{ mass = {PLATE_MASS}, center_of_mass = [0.4, 0, 0.05], inertia = [0.02, 0.03, 0.02] }}\n",
        place(ends[0])
    );
    for (i, end) in ends.iter().enumerate() {
        text += &format!(
            "[[joint]]\nname = \"foot_{i}\"\nhinge = [\"ground\", \"leg_{i}.from\"]\naxis = [0, -1, 0]\n[[joint]]\nname = \"head_{i}\"\nhinge = [\"leg_{i}.to\", \"plate\"]\nat = {}\naxis = [0, -1, 0]\n",
            place(*end)
        );
    }
    text + &format!(
        "[[coordinate]]\nname = \"angle\"\ndrives = \"foot_0\"\nhome = \"{home} deg\"\nrange = [\"{} deg\", \"{} deg\"]\n",
        range[0], range[1]
    )
}

const ROD: &str = "rod = { ENDS, mass = 0.3 }";
const BEAM: &str = r#"beam = { ENDS, elements = 3, section = { rectangle = { height = 0.008, width = 0.01 } }, material = "aluminium" }"#;
const WIDE: [f64; 2] = [30.0, 160.0];

fn reduced(text: &str) -> Result<LocalReducer, ReductionError> {
    LocalReducer::new(&mechanism_from(text))
}

#[test]
fn any_home_serves_the_whole_range() {
    for home in [30.0, 45.0, 60.0, 90.0, 135.0, 160.0] {
        let reducer = reduced(&three_legs(home, WIDE, ROD)).expect("three legs");
        // Of two loops in space three equations each lie across the plane; one more is the leg's.
        let redundant = (
            reducer.kinematics().n_redundant(),
            reducer.model().n_redundant(),
        );
        assert_eq!(redundant, (7, 7), "home {home}");
        for degrees in [30, 50, 75, 89, 90, 91, 110, 140, 160] {
            let theta = f64::from(degrees).to_radians();
            let c = reducer
                .evaluate(&[theta])
                .unwrap_or_else(|error| panic!("home {home}, {degrees} degrees: {error}"));
            let mass = (LEG_MASS + PLATE_MASS) * LEG * LEG;
            assert_close("mass", &c.mass, &[mass], 1e-12);
            let weight = 9.81 * (1.5 * LEG_MASS + PLATE_MASS) * LEG;
            let found = [c.force[0] / weight];
            assert!(
                (found[0] + theta.cos()).abs() < 1e-12,
                "{found:?} at {degrees}"
            );
            let mesh = reducer.kinematics().solve(&[theta]).expect("regular");
            let mesh = reducer.evaluate_on_mesh(&mesh).expect("regular");
            assert_close("mass on the mesh", &mesh.mass, &c.mass, 1e-12);
        }
    }
}

#[test]
fn frequencies_do_not_depend_on_home() {
    let modes = "[reduction]\ninternal_modes = 2\n";
    let frequencies = |home: f64, degrees: f64| {
        let text = three_legs(home, WIDE, BEAM) + modes;
        let reducer = reduced(&text).expect("three legs");
        let found = reducer.locked_frequencies_hz(&[degrees.to_radians()], 4);
        found.unwrap_or_else(|error| panic!("home {home}, {degrees} degrees: {error}"))
    };
    for degrees in [35.0, 90.0, 120.0, 155.0] {
        let expected = frequencies(90.0, degrees);
        for home in [30.0, 60.0, 135.0] {
            assert_close("Hz", &frequencies(home, degrees), &expected, 1e-8);
        }
    }
}

#[test]
fn a_choice_that_cannot_serve_is_not_called_a_singularity_of_the_mechanism() {
    // Over a full turn every choice of equations fails somewhere, though the plate is never free.
    let reducer = reduced(&three_legs(60.0, [-170.0, 190.0], ROD)).expect("three legs");
    let mut failures = 0;
    for degrees in -17..=19 {
        let theta = f64::from(10 * degrees).to_radians();
        match reducer.kinematics().solve(&[theta]) {
            // Where the kept equations fail exactly, those left out stay open.
            Ok(_) | Err(KinematicsError::Inconsistent { .. }) => {}
            Err(KinematicsError::Blocked { kind, .. } | KinematicsError::Singular { kind, .. }) => {
                failures += 1;
                assert_eq!(kind, SingularityKind::KeptEquations, "{degrees}");
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(failures > 0);
}

#[test]
fn a_home_where_constraints_are_redundant_by_chance_is_refused() {
    // Legs 1 and 2 on one line hold the plate twice along it; elsewhere all three legs are needed,
    // and the first one, being flexible, makes every constraint count.
    let aligned = (0.2_f64 / 0.5).atan().to_degrees();
    let text = three_legs(aligned, [10.0, 160.0], BEAM);
    match reduced(&text) {
        Err(ReductionError::Model(ModelError::RankChanges {
            at_home, elsewhere, ..
        })) => {
            assert_eq!(elsewhere, at_home + 1);
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("home is special"),
    }
    let near = reduced(&three_legs(aligned + 1.0, [10.0, 160.0], BEAM));
    assert!(near.is_ok());
}
