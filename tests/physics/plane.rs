//! `plane` removes motion across the plane and nothing else.

use crate::support::{assert_close, mechanism_from, mechanism_with, relative_error};
use reducer::error::Explain;
use reducer::reduction::LocalReducer;

const DRAWN: &str = "gravity = [0, 0, -9.81]";
const PLANAR: &str = "plane = \"xz\"\ngravity = [0, 0, -9.81]";

#[test]
fn the_planar_four_bar_moves_as_the_spatial_one_does_in_its_plane() {
    let modes = "internal_modes = { in_plane = \"xz\", count = 3 }";
    let spatial = mechanism_with("four_bar.toml", &[("internal_modes = 5", modes)]);
    let planar = mechanism_with(
        "four_bar.toml",
        &[
            (DRAWN, PLANAR),
            ("internal_modes = 5", "internal_modes = 3"),
        ],
    );
    let spatial = LocalReducer::new(&spatial).expect("a four-bar");
    let planar = LocalReducer::new(&planar).expect("a four-bar");
    assert_eq!(planar.model().n_dofs(), spatial.model().n_dofs() / 2);
    for theta in [-1.2, 0.0, 0.45, 1.5] {
        let theta = [theta];
        let a = spatial.evaluate(&theta).expect("regular");
        let b = planar.evaluate(&theta).expect("regular");
        for (what, found, expected) in [
            ("mass", &b.mass, &a.mass),
            ("stiffness", &b.stiffness, &a.stiffness),
            ("force", &b.force, &a.force),
            ("gyroscopic", &b.gyroscopic(), &a.gyroscopic()),
            ("loads", &b.load_map.concat(), &a.load_map.concat()),
        ] {
            assert_close(what, found, expected, 1e-9);
        }
        let all = spatial.locked_frequencies_hz(&theta, 30).expect("regular");
        let in_plane = planar.locked_frequencies_hz(&theta, 10).expect("regular");
        assert_eq!(in_plane.len(), 10);
        for frequency in in_plane {
            let nearest = (all.iter())
                .map(|f| relative_error(&[*f], &[frequency]))
                .fold(f64::INFINITY, f64::min);
            assert!(nearest < 1e-9, "{frequency} Hz is missing at {theta:?}");
        }
    }
}

#[test]
fn the_rigid_planar_four_bar_has_no_redundant_constraints() {
    let spatial = mechanism_with("four_bar_rigid.toml", &[]);
    let planar = mechanism_with("four_bar_rigid.toml", &[(DRAWN, PLANAR)]);
    let spatial = LocalReducer::new(&spatial).expect("a four-bar");
    let planar = LocalReducer::new(&planar).expect("a four-bar");
    assert_eq!(spatial.model().n_redundant(), 3);
    // Of five rows of each hinge three are empty in the plane.
    assert_eq!(planar.model().n_joint_rows(), 8);
    for theta in [-1.2, 0.4] {
        let a = spatial.evaluate(&[theta]).expect("regular");
        let b = planar.evaluate(&[theta]).expect("regular");
        assert_close("mass", &b.mass, &a.mass, 1e-13);
        assert_close("gyroscopic", &b.gyroscopic(), &a.gyroscopic(), 1e-12);
        assert_close("force", &b.force, &a.force, 1e-12);
    }
}

#[test]
fn joints_and_gravity_that_leave_the_plane_are_refused() {
    let drawn =
        "\n[[body]]\nname = \"arm\"\nrod = { from = [0, 0, 0], to = [1, 0, 0], mass = 1 }\n";
    for (joint, coordinate, fits) in [
        (
            "hinge = [\"ground\", \"arm.from\"]\naxis = [0, 1, 0]",
            "drives = \"a\"",
            true,
        ),
        (
            "hinge = [\"ground\", \"arm.from\"]\naxis = [0, 1, 0.001]",
            "drives = \"a\"",
            false,
        ),
        (
            "hinge = [\"ground\", \"arm.from\"]\naxis = [0, 0, 1]",
            "drives = \"a\"",
            false,
        ),
        (
            "prismatic = [\"ground\", \"arm.from\"]\naxis = [1, 0, 2]",
            "drives = \"a\"",
            true,
        ),
        (
            "prismatic = [\"ground\", \"arm.from\"]\naxis = [1, 1, 0]",
            "drives = \"a\"",
            false,
        ),
        (
            "cylindrical = [\"ground\", \"arm.from\"]\naxis = [0, 1, 0]",
            "distance = [\"ground.p\", \"arm.to\"]",
            true,
        ),
        (
            "cylindrical = [\"ground\", \"arm.from\"]\naxis = [1, 1, 0]",
            "distance = [\"ground.p\", \"arm.to\"]",
            false,
        ),
        (
            "universal = [\"ground\", \"arm.from\"]\naxes = [[0, 1, 0], [1, 0, 0]]",
            "distance = [\"ground.p\", \"arm.to\"]",
            true,
        ),
        (
            "universal = [\"ground\", \"arm.from\"]\naxes = [[0, 0, 1], [1, 0, 0]]",
            "distance = [\"ground.p\", \"arm.to\"]",
            false,
        ),
        (
            "spherical = [\"ground\", \"arm.from\"]",
            "distance = [\"ground.p\", \"arm.to\"]",
            true,
        ),
    ] {
        let text = format!(
            "format = 1\n{PLANAR}\nground.points = {{ p = [0.5, 0, 1] }}\n{drawn}[[joint]]\nname = \"a\"\n{joint}\n[[coordinate]]\nname = \"q\"\n{coordinate}\n"
        );
        let built = LocalReducer::new(&mechanism_from(&text));
        match built {
            Ok(_) => assert!(fits, "{joint}"),
            Err(error) => {
                assert!(!fits, "{joint}: {error}");
                let said = error.to_string();
                assert!(
                    said.starts_with("joint `a` does not fit a planar mechanism"),
                    "{said}"
                );
                let place = error.origin().expect("a place").span.start;
                assert!(text[place..].starts_with("\"a\""), "{}", &text[place..]);
            }
        }
    }
    let across = mechanism_with(
        "four_bar.toml",
        &[(DRAWN, "plane = \"xz\"\ngravity = [0, 1, 0]")],
    );
    let error = LocalReducer::new(&across).err().expect("refused");
    assert!(
        error.to_string().starts_with("gravity has a component"),
        "{error}"
    );
}

/// Both bending stiffnesses of the link are equal: the eigenproblem mixes the planes of each pair.
#[test]
fn modes_in_a_plane_are_found_where_bending_is_equally_stiff_across_it() {
    let wanted = "{ in_plane = \"xy\", count = 3 }";
    let planar = mechanism_with(
        "one_link.toml",
        &[
            ("gravity = [0, 0, 0]", "plane = \"xy\"\ngravity = [0, 0, 0]"),
            (wanted, "3"),
        ],
    );
    let planar = LocalReducer::new(&planar).expect("a link");
    let expected = planar.evaluate(&[0.3]).expect("regular");
    for gauge in ["filtered", "subspace", "track"] {
        let with = format!("{wanted}\ngauge = \"{gauge}\"");
        let mechanism = mechanism_with("one_link.toml", &[(wanted, &with)]);
        let found = LocalReducer::new(&mechanism).expect("a link");
        let found = found.evaluate(&[0.3]).expect("regular");
        assert_close(gauge, &found.mass, &expected.mass, 1e-8);
        assert_close(gauge, &found.stiffness, &expected.stiffness, 1e-8);
    }
    let across = "{ out_of_plane = \"xy\", count = 2 }";
    let across = LocalReducer::new(&mechanism_with("one_link.toml", &[(wanted, across)]));
    let across = across.expect("a link").evaluate(&[0.3]).expect("regular");
    let bending = |c: &reducer::reduction::Coefficients| {
        reducer::reduction::frequencies_hz(c, 1).expect("definite")[..2].to_vec()
    };
    assert_close("across", &bending(&across), &bending(&expected), 1e-8);
}
