//! What stored samples belong to.

use crate::description::mechanism::{Mechanism, Origin, Stiffening};

/// Hash of everything samples depend on: the mechanism without places, texts and the settings of
/// the approximation. Declared motion and tolerances act on samples by the `stiffening` that they lead to.
pub(super) fn fingerprint(mechanism: &Mechanism, stiffening: Stiffening) -> [u8; 32] {
    let mut plain = mechanism.clone();
    plain.reduction.stiffening = stiffening;
    for coordinate in &mut plain.coordinates {
        (coordinate.rate, coordinate.acceleration) = (None, None);
    }
    plain.sources.clear();
    plain.reduction.origin = Origin::default();
    for origin in plain
        .bodies
        .iter_mut()
        .map(|x| &mut x.origin)
        .chain(plain.joints.iter_mut().map(|x| &mut x.origin))
        .chain(plain.coordinates.iter_mut().map(|x| &mut x.origin))
        .chain(plain.springs.iter_mut().map(|x| &mut x.origin))
        .chain(plain.point_masses.iter_mut().map(|x| &mut x.origin))
        .chain(plain.loads.iter_mut().map(|x| &mut x.origin))
        .chain(plain.outputs.iter_mut().map(|x| &mut x.origin))
        .chain(plain.loaded.iter_mut().map(|x| &mut x.origin))
        .chain(plain.derived.iter_mut().map(|x| &mut x.origin))
        .chain(plain.inequalities.iter_mut().map(|x| &mut x.origin))
    {
        *origin = Origin::default();
    }
    // Without `..`: whoever adds a field decides here whether samples depend on it.
    let Mechanism {
        name: _,
        gravity,
        gravity_at_runtime,
        plane,
        bodies,
        joints,
        coordinates,
        springs,
        point_masses,
        loads,
        outputs,
        loaded,
        derived,
        // Where samples are taken does not change them.
        inequalities: _,
        home_tolerance,
        damping,
        reduction,
        approximation: _,
        sources: _,
    } = &plain;
    let axes = if *gravity_at_runtime {
        " gravity per axis"
    } else {
        ""
    };
    let derived = match &derived.iter().map(|d| &d.value).collect::<Vec<_>>()[..] {
        [] => String::new(),
        values => format!(" {values:?}"),
    };
    let text = format!(
        "{} {:?}{axes}{derived}",
        env!("CARGO_PKG_VERSION"),
        (
            (gravity, plane, bodies, joints, coordinates),
            (springs, point_masses, loads, outputs, loaded),
            (home_tolerance, damping, reduction),
        )
    );
    *blake3::hash(text.as_bytes()).as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::parse;

    const LINK: &str = r#"format = 1
name = "link"
gravity = [0, 0, -9.81]
[[body]]
name = "link"
rigid = { mass = 2, center_of_mass = [0.3, 0, 0], inertia = [0.01, 0.02, 0.02] }
[[joint]]
name = "hinge"
hinge = ["ground", "link.origin"]
axis = [0, 1, 0]
[[coordinate]]
name = "theta"
drives = "hinge"
range = [-1, 1]
"#;

    fn of(text: &str) -> [u8; 32] {
        let mechanism = parse(text, "link.toml", &|_| unreachable!()).expect("a mechanism");
        fingerprint(&mechanism, Stiffening::None)
    }

    #[test]
    fn samples_belong_to_what_they_depend_on_and_to_nothing_else() {
        for same in [
            format!("# a comment\n{LINK}"),
            LINK.replace("name = \"link\"\ngravity", "name = \"rod\"\ngravity"),
            format!("{LINK}[approximation]\ntolerance = 1e-5\n"),
            LINK.replace(
                "range = [-1, 1]",
                "range = [-1, 1]\nrate = 5\nacceleration = 9",
            ),
            format!(
                "{LINK}[domain]\ninequalities = [{{ coefficients = {{ theta = 1 }}, at_least = 0 }}]\n"
            ),
        ] {
            assert_eq!(of(&same), of(LINK), "{same}");
        }
        for other in [
            LINK.replace("-9.81", "-9.8"),
            LINK.replace("mass = 2", "mass = 2.5"),
            LINK.replace("axis = [0, 1, 0]", "axis = [1, 0, 0]"),
            LINK.replace("range = [-1, 1]", "range = [-1, 1]\nviscous = 0.1"),
            LINK.replace(
                "gravity = [0, 0, -9.81]",
                "gravity = { value = [0, 0, -9.81], runtime = true }",
            ),
            format!("{LINK}[[spring]]\nname = \"s\"\njoint = \"hinge\"\nstiffness = 3\n"),
            format!("{LINK}[[output]]\nname = \"tip\"\nat = \"link\"\n"),
            format!("{LINK}[[derived]]\nname = \"a\"\nvalue = \"inv(M)\"\n"),
        ] {
            assert_ne!(of(&other), of(LINK), "{other}");
        }
    }
}
