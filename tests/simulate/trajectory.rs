//! Small motions about a nominal motion (SPACAR's perturbation method): matrices, superposition, adaptive modes, `reduce linear
//! --trajectory`.

use crate::support::{load_loop, reduce_in, reduce_mechanism, scenario_file, shown};
use nalgebra::{DMatrix, DVector};
use reducer::dynamics::excitation::Excitation;
use reducer::dynamics::reduced::{
    AlongMotion, Perturbation, PerturbationSettings, Perturbations, ReducedError, ReducedInstant,
    Stiffness, simulate_perturbed,
};
use reducer::dynamics::scenario::{self, Scenario};
use reducer::reduced_model::{Evaluator, ReducedModel, Workspace};
use serde_json::Value;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::OnceLock;

/// The spin-up of seed 004 and its model with three bending modes.
fn spin_up() -> &'static (Scenario, ReducedModel) {
    static FOUND: OnceLock<(Scenario, ReducedModel)> = OnceLock::new();
    FOUND.get_or_init(|| {
        let path = Path::new("data/scenarios/one_link_spin_up.toml");
        let scenario = scenario::load(path).unwrap();
        let model = reduce_mechanism(&scenario.mechanism);
        (scenario, model)
    })
}

/// Rows of small motions under the drives of a scenario.
fn run(
    scenario: &Scenario,
    model: &ReducedModel,
    source: &dyn Perturbations,
    breaks: &[f64],
    options: PerturbationSettings,
) -> Result<Vec<ReducedInstant>, ReducedError> {
    let evaluator = Evaluator::new(model).unwrap();
    let mut seen = Vec::new();
    simulate_perturbed(
        &evaluator,
        &scenario.drives,
        (source, breaks),
        &scenario.initial,
        &scenario.reduced,
        &options,
        &mut |instant| {
            seen.push(instant.clone());
            ControlFlow::Continue(())
        },
    )?;
    Ok(seen)
}

/// Deflection of the tip across the link, in axes of the hub.
fn across(instant: &ReducedInstant) -> f64 {
    let output = &instant.outputs[0];
    output.rigid_axes.tr_mul(&output.deflection).y
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |most, x| most.max(x.abs()))
}

/// Peak of the deflection that K₀η = σ₀ gives at every instant.
fn quasi_static_peak(evaluator: &Evaluator<'_>, along: &AlongMotion<'_>) -> f64 {
    let mut work = Workspace::default();
    largest((0..=2000).map(|k| {
        let at = along.at(0.01 * f64::from(k)).unwrap();
        let eta = [&at.nominal[0][..], &at.quasi_static().unwrap()].concat();
        let mut rigid = eta.clone();
        rigid[1..].fill(0.0);
        let still = vec![0.0; eta.len()];
        let (bent, _) = evaluator.outputs(&eta, &still, &mut work).unwrap();
        let (straight, _) = evaluator.outputs(&rigid, &still, &mut work).unwrap();
        let deflection = bent[0].position - straight[0].position;
        straight[0].rotation.tr_mul(&deflection).y
    }))
}

/// K^εε + N₀ without G₀: what turns with the hub is thrown outwards, θ̇²M, and nothing stretched holds it back.
struct WithoutGeometric<'a>(&'a AlongMotion<'a>, &'a AlongMotion<'a>);

impl Perturbations for WithoutGeometric<'_> {
    fn at(&self, time: f64) -> Result<Perturbation, ReducedError> {
        let mut found = self.0.at(time)?;
        let rest = self.1.at(time)?;
        let square = found.nominal[1][0].powi(2);
        found.damping = rest.damping;
        found.stiffness = rest.stiffness - square * &found.mass;
        Ok(found)
    }
}

/// Cases 1 to 5 of the superposition slide, converged values: 0.5344, 0.5269, 0.5713, 0.5707 m, and divergence.
#[test]
fn superposition_cases_of_the_spin_up() {
    let (scenario, model) = spin_up();
    let evaluator = Evaluator::new(model).unwrap();
    let along = |stiffness| AlongMotion::new(&evaluator, &scenario.drives, stiffness).unwrap();
    let (moving, rest) = (along(Stiffness::InMotion), along(Stiffness::AtRest));
    let breaks = scenario.drives.breaks();
    let peak = |source: &dyn Perturbations| {
        let rows = run(
            scenario,
            model,
            source,
            breaks,
            PerturbationSettings::default(),
        );
        largest(rows.unwrap().iter().map(across))
    };
    let found = [
        peak(&moving),
        quasi_static_peak(&evaluator, &moving),
        peak(&rest),
        quasi_static_peak(&evaluator, &rest),
    ];
    println!("{found:.5?}");
    for (found, expected) in found.iter().zip([0.5344, 0.5269, 0.5713, 0.5707]) {
        assert!((found / expected - 1.0).abs() < 0.005, "{found} {expected}");
    }
    // What the motion adds beyond spin softening is geometric stiffness, and positive.
    let at = moving.at(17.0).unwrap();
    let without = WithoutGeometric(&moving, &rest).at(17.0).unwrap();
    let geometric = (at.stiffness - &without.stiffness)
        .view((1, 1), (3, 3))
        .into_owned();
    assert!(geometric.symmetric_eigenvalues().min() > 0.0);
    assert!(without.frequencies_hz().is_none(), "unstable");
    let rows = run(
        scenario,
        model,
        &WithoutGeometric(&moving, &rest),
        breaks,
        PerturbationSettings::default(),
    );
    let last = match rows {
        Ok(rows) => largest(rows.iter().flat_map(|r| r.modal.clone())),
        Err(_) => f64::INFINITY,
    };
    assert!(last > 100.0, "diverges: {last}");
}

/// M₀, C₀ and K₀ against differences of the inverse dynamics at the nominal acceleration, and r₀ itself.
#[test]
fn matrices_are_derivatives_of_the_inverse_dynamics() {
    let (scenario, model) = spin_up();
    let evaluator = Evaluator::new(model).unwrap();
    let along = AlongMotion::new(&evaluator, &scenario.drives, Stiffness::InMotion).unwrap();
    let at = along.at(6.1).unwrap();
    let n = evaluator.n();
    let motion: Vec<Vec<f64>> = at
        .nominal
        .iter()
        .map(|list| {
            let mut whole = list.clone();
            whole.resize(n, 0.0);
            whole
        })
        .collect();
    assert!(motion[2][0].abs() > 0.1, "the hub accelerates");
    let mut work = Workspace::default();
    let mut force = |motion: &[Vec<f64>]| {
        let mut force = vec![0.0; n];
        let status =
            evaluator.inverse_dynamics(&motion[0], &motion[1], &motion[2], &mut force, &mut work);
        status.unwrap();
        DVector::from(force)
    };
    assert!((force(&motion) - &at.force).norm() < 1e-14 * at.force.norm());
    let step = 1e-5;
    for (place, matrix) in [&at.stiffness, &at.damping, &at.mass]
        .into_iter()
        .enumerate()
    {
        let columns: Vec<DVector<f64>> = (0..n)
            .map(|j| {
                let mut moved = motion.clone();
                moved[place][j] += step;
                let plus = force(&moved);
                moved[place][j] -= 2.0 * step;
                (plus - force(&moved)) / (2.0 * step)
            })
            .collect();
        let expected = DMatrix::from_columns(&columns);
        // Nothing couples straight modes with a turning hub: C₀ vanishes but for rounding, against M₀ times a rate.
        let size = expected.norm().max(1e-3 * motion[1][0] * at.mass.norm());
        let apart = (matrix - &expected).norm() / size;
        assert!(apart < 1e-7, "{place}: {apart:.1e}");
    }
}

/// A two-link arm whose servos follow a motion of this size, and that motion itself.
fn servos(size: f64) -> [Scenario; 2] {
    let head = "format = 1\nmechanism = \"DATA/inversion/two_link.toml\"\nduration = 0.5\n\
        [initial]\ntheta = [0, \"90 deg\"]\n[sampling]\nstep = 0.005\n[reduced]\ntolerance = 1e-10\n\
        [override.approximation]\ntolerance = 0.01\n";
    let (mut loops, mut motion) = (head.to_owned(), head.to_owned());
    for (name, from, part, kp) in [
        ("shoulder", 0.0, 1.0, 60.0),
        ("elbow", std::f64::consts::FRAC_PI_2, -0.6, 15.0),
    ] {
        let way = format!(
            "{{ point_to_point = {{ from = {from}, to = {}, duration = 0.3 }} }}",
            from + part * size
        );
        loops += &format!(
            "[[sensor]]\nname = \"{name}\"\ncoordinate = \"{name}\"\n\
             [[block]]\nname = \"{name}_wanted\"\nsignal = {way}\n\
             [[block]]\nname = \"{name}_servo\"\npid = {{ kp = {kp}, kd = {}, filter = \"2 ms\" }}\n\
             input = [\"{name}_wanted\", \"-{name}\"]\n\
             [[drive]]\ncoordinate = \"{name}\"\nforce = \"{name}_servo\"\n",
            0.05 * kp
        );
        motion += &format!("[[drive]]\ncoordinate = \"{name}\"\nmotion = {way}\n");
    }
    [load_loop(&loops), load_loop(&motion)]
}

fn arm() -> &'static ReducedModel {
    static MODEL: OnceLock<ReducedModel> = OnceLock::new();
    MODEL.get_or_init(|| reduce_mechanism(&servos(0.1)[0].mechanism))
}

/// θ and modes of two runs, largest difference.
fn apart(a: &[ReducedInstant], b: &[ReducedInstant]) -> f64 {
    assert_eq!(a.len(), b.len());
    let all = |row: &ReducedInstant| [&row.theta[..], &row.modal].concat();
    largest(a.iter().zip(b).flat_map(|(a, b)| {
        let pairs = all(a).into_iter().zip(all(b));
        pairs.map(|(a, b)| a - b).collect::<Vec<f64>>()
    }))
}

/// What small motions leave out is of second order: under servos that lag behind, half the motion leaves a quarter.
#[test]
fn the_difference_from_the_reduced_model_falls_with_the_square_of_the_amplitude() {
    let evaluator = Evaluator::new(arm()).unwrap();
    let differences = [0.2, 0.1, 0.05].map(|size| {
        let [scenario, motion] = servos(size);
        let along = AlongMotion::new(&evaluator, &motion.drives, Stiffness::InMotion).unwrap();
        let breaks = motion.drives.breaks();
        let small = run(
            &scenario,
            arm(),
            &along,
            breaks,
            PerturbationSettings::default(),
        )
        .unwrap();
        let mut whole = Vec::new();
        reducer::dynamics::reduced::simulate(
            &evaluator,
            &scenario.drives,
            &scenario.initial,
            &scenario.reduced,
            &mut |instant| {
                whole.push(instant.clone());
                ControlFlow::Continue(())
            },
        )
        .unwrap();
        let moved = largest(whole.iter().flat_map(|row| row.modal.clone()));
        println!("{size}: {:.3e} of {moved:.3e}", apart(&small, &whole));
        apart(&small, &whole)
    });
    for pair in differences.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!((3.5..4.5).contains(&ratio), "{ratio} {differences:?}");
    }
}

/// All modes of every instant are all coordinates, however the modes turn; with fewer, the static answer of the others helps.
#[test]
fn adaptive_modes_carry_small_motions() {
    let evaluator = Evaluator::new(arm()).unwrap();
    let [scenario, motion] = servos(0.2);
    let along = AlongMotion::new(&evaluator, &motion.drives, Stiffness::InMotion).unwrap();
    let breaks = motion.drives.breaks();
    let with = |scenario: &Scenario, modes, mode_acceleration| {
        let options = PerturbationSettings {
            modes,
            mode_acceleration,
        };
        run(scenario, arm(), &along, breaks, options)
    };
    let all = with(&scenario, None, false).unwrap();
    let same = apart(&all, &with(&scenario, Some(6), false).unwrap());
    assert!(same < 1e-7, "{same:.1e}");
    // θ on its motion: four bending modes, of which two are kept.
    let held = Scenario {
        drives: motion.drives.clone(),
        ..scenario.clone()
    };
    let whole = with(&held, None, false).unwrap();
    let peak = largest(whole.iter().flat_map(|row| row.modal.clone()));
    let part =
        |modes, corrected| apart(&whole, &with(&held, Some(modes), corrected).unwrap()) / peak;
    let (plain, corrected) = (part(2, false), part(2, true));
    println!("two modes: {plain:.2e}, corrected {corrected:.2e} of the peak");
    assert!(
        plain < 0.05 && corrected < 0.2 * plain,
        "{plain:.1e} {corrected:.1e}"
    );
    // Nothing to correct where nothing is left out.
    assert!(part(4, true) < 1e-6);
    let error = with(&held, Some(7), false).unwrap_err();
    assert!(
        error.to_string().contains("4 coordinates are free"),
        "{error}"
    );
    let floating = with(&scenario, Some(3), true).unwrap_err();
    assert!(
        matches!(floating, ReducedError::NoStaticAnswer { .. }),
        "{floating}"
    );
}

#[test]
fn the_command_writes_matrices_and_both_motions() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = std::fs::canonicalize("data/scenarios/one_link_spin_up.toml").unwrap();
    let scenario = scenario.to_str().unwrap();
    let arguments = [
        "linear",
        scenario,
        "--trajectory",
        scenario,
        "--instants",
        "11",
        "-o",
        "out",
        "--json",
    ];
    let output = reduce_in(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let instants = found["instants"].as_array().unwrap();
    assert_eq!(instants.len(), 11);
    assert_eq!(instants[3]["time"], 6.0);
    // A beam at 4 rad/s has 3.347 rad/s as its first frequency.
    let frequency = instants[10]["frequencies_hz"][0].as_f64().unwrap();
    assert!(
        (frequency * std::f64::consts::TAU / 3.347 - 1.0).abs() < 2e-3,
        "{frequency}"
    );
    let apart = &found["differences"]["reduced"]["deflection_tip"];
    assert!(apart["max"].as_f64().unwrap() < 0.02, "{apart}");
    for file in [
        "trajectory.json",
        "trajectory.mat",
        "trajectory.svg",
        "nominal.csv",
        "small_motions.csv",
        "reduced.csv",
    ] {
        assert!(folder.path().join("out").join(file).is_file(), "{file}");
    }
    // Once more: all that stands there is the command's own.
    let output = reduce_in(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
    let nominal = std::fs::read_to_string(folder.path().join("out/nominal.csv")).unwrap();
    assert!(nominal.starts_with(
        "time,coordinate.angle,rate.angle,acceleration.angle,force.angle,excitation."
    ));
}

/// Forces leave open what the nominal motion is.
#[test]
fn a_trajectory_that_prescribes_no_motion_is_refused() {
    let text = "format = 1\nmechanism = \"DATA/one_link.toml\"\nduration = 1\n\
        [[drive]]\ncoordinate = \"angle\"\nforce = 1\n";
    let (folder, _) = scenario_file("forced.toml", text);
    let output = reduce_in(
        folder.path(),
        &["linear", "forced.toml", "--trajectory", "forced.toml"],
    );
    assert_eq!(output.status.code(), Some(2));
    let told = shown(&output.stderr);
    assert!(
        told.contains("leaves coordinate `angle` free") && told.contains("`motion`"),
        "{told}"
    );
    let output = reduce_in(folder.path(), &["linear", "forced.toml", "--modes", "2"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        shown(&output.stderr).contains("--trajectory"),
        "{}",
        shown(&output.stderr)
    );
}
