//! Identities every correct model satisfies.

use crate::support::{
    Random, assert_close, fixture, four_bar_with, mechanism, mechanism_from, reducer,
};
use reducer::reduction::{Coefficients, LocalReducer};

/// Central difference, fourth order, of a list of numbers.
fn slopes(f: impl Fn(f64) -> Vec<f64>, h: f64) -> Vec<f64> {
    let (a, b, c, d) = (f(h), f(-h), f(2.0 * h), f(-2.0 * h));
    (0..a.len())
        .map(|i| (8.0 * (a[i] - b[i]) - (c[i] - d[i])) / (12.0 * h))
        .collect()
}

fn size(values: &[f64]) -> f64 {
    values.iter().fold(0.0_f64, |m, v| m.max(v.abs()))
}

/// Largest difference, relative to the expected values or to `floor` where they are smaller.
fn gap(found: &[f64], expected: &[f64], floor: f64) -> f64 {
    assert_eq!(found.len(), expected.len());
    let difference: Vec<f64> = found.iter().zip(expected).map(|(a, b)| a - b).collect();
    let reference = size(expected).max(floor);
    if reference == 0.0 {
        size(&difference)
    } else {
        size(&difference) / reference
    }
}

fn along<'a>(
    reducer: &'a LocalReducer,
    theta: &'a [f64],
    k: usize,
    pick: impl Fn(&Coefficients) -> Vec<f64> + 'a,
) -> impl Fn(f64) -> Vec<f64> + 'a {
    move |step| {
        let mut moved = theta.to_vec();
        moved[k] += step;
        pick(&reducer.evaluate(&moved).expect("regular"))
    }
}

/// A configuration well inside the domain.
fn inside(file: &str, random: &mut Random) -> Vec<f64> {
    mechanism(file)
        .coordinates
        .iter()
        .map(|c| 0.5 * (c.lower + c.upper) + 0.4 * (c.upper - c.lower) * random.next())
        .collect()
}

/// Relative difference of the gyroscopic tensor from the Christoffel symbols of the mass, by
/// differences.
pub fn christoffel_error(reducer: &LocalReducer, theta: &[f64], h: f64) -> f64 {
    let c = reducer.evaluate(theta).expect("regular");
    let n = c.n();
    let gradient: Vec<Vec<f64>> = (0..n)
        .map(|k| slopes(along(reducer, theta, k, |c| c.mass.clone()), h))
        .collect();
    let mut expected = vec![0.0; n * n * n];
    for i in 0..n {
        for j in 0..n {
            for k in 0..n {
                expected[(i * n + j) * n + k] = 0.5
                    * (gradient[k][i * n + j] + gradient[j][i * n + k] - gradient[i][j * n + k]);
            }
        }
    }
    gap(&c.gyroscopic(), &expected, 1e-3 * size(&c.mass))
}

#[test]
fn gyroscopic_tensor_is_christoffels() {
    let mut random = Random(1);
    for file in [
        "orthoglide.toml",
        "orthoglide_parallelogram.toml",
        "four_bar_rigid.toml",
        "elbow.toml",
        "arm6.toml",
    ] {
        let reducer = reducer(file);
        for _ in 0..3 {
            let theta = inside(file, &mut random);
            let error = christoffel_error(&reducer, &theta, 1e-3);
            assert!(error < 1e-6, "{file} {error:.1e} at {theta:?}");
        }
    }
}

/// Analytic gradients against differences with step `h`, coordinates in units of unit mass,
/// relative to the largest gradient along any θ.
pub fn gradient_errors(reducer: &LocalReducer, theta: &[f64], h: f64) -> Vec<(&'static str, f64)> {
    let c = reducer.evaluate(theta).expect("regular");
    let (n, s) = (c.n(), theta.len());
    let unit: Vec<f64> = (0..n).map(|i| 1.0 / c.mass[i * n + i].sqrt()).collect();
    let matrix = |m: &[f64]| -> Vec<f64> {
        (0..n * n)
            .map(|ij| m[ij] * unit[ij / n] * unit[ij % n])
            .collect()
    };
    let vector = |v: &[f64]| -> Vec<f64> { (0..n).map(|i| v[i] * unit[i]).collect() };
    let all = |pick: &dyn Fn(&Coefficients) -> Vec<f64>| -> Vec<Vec<f64>> {
        (0..s)
            .map(|k| slopes(along(reducer, theta, k, pick), h))
            .collect()
    };
    // A gradient that vanishes is compared with a thousandth of what it is the gradient of.
    let compare = |found: &[Vec<f64>],
                   pick: &dyn Fn(&Coefficients) -> Vec<f64>,
                   scale: &dyn Fn(&[f64]) -> Vec<f64>| {
        let join = |parts: &[Vec<f64>]| parts.iter().flat_map(|p| scale(p)).collect::<Vec<f64>>();
        gap(
            &join(found),
            &join(&all(pick)),
            1e-3 * size(&scale(&pick(&c))),
        )
    };
    // Virtual work: the force on θ is the slope of the potential.
    let potential = all(&|c| vec![c.potential]);
    let largest = size(&c.force).max(1e-3);
    let work = (0..s).map(|k| (potential[k][0] + c.force[k]).abs() / largest);
    let velocity = all(&|c| c.outputs.iter().flat_map(|o| o.position).collect());
    let output = (0..s).flat_map(|k| {
        let found =
            (c.outputs.iter()).flat_map(move |o| (0..3).map(move |i| o.jacobian[i * n + k]));
        let pairs = found.zip(&velocity[k]).map(|(a, b)| (a - b).abs());
        pairs.collect::<Vec<f64>>()
    });
    let worst = |errors: &mut dyn Iterator<Item = f64>| errors.fold(0.0_f64, f64::max);
    vec![
        (
            "mass",
            compare(&c.mass_gradient[..s], &|c| c.mass.clone(), &matrix),
        ),
        (
            "stiffness",
            compare(&c.stiffness_gradient, &|c| c.stiffness.clone(), &matrix),
        ),
        (
            "force",
            compare(&c.force_gradient, &|c| c.force.clone(), &vector),
        ),
        ("potential", worst(&mut { work })),
        ("output", worst(&mut { output })),
    ]
}

#[track_caller]
pub fn check_gradients(what: &str, reducer: &LocalReducer, theta: &[f64], tolerance: f64) {
    for (name, error) in gradient_errors(reducer, theta, 1e-3) {
        let allowed = if name == "output" {
            1e-2 * tolerance
        } else {
            tolerance
        };
        assert!(error < allowed, "{what} {name} {error:.2e} at {theta:?}");
    }
}

#[test]
fn analytic_gradients_match_differences() {
    let mut random = Random(2);
    for file in ["orthoglide.toml", "four_bar_rigid.toml", "arm6.toml"] {
        let theta = inside(file, &mut random);
        check_gradients(file, &reducer(file), &theta, 1e-6);
    }
    let four_bar = reducer("four_bar.toml");
    for theta in [-1.5, 0.2, 0.7, 1.2] {
        check_gradients("four_bar", &four_bar, &[theta], 1e-6);
    }
    check_gradients(
        "loop",
        &fixture("flexible_orthoglide.toml"),
        &[0.05, -0.03, 0.11],
        1e-6,
    );
    check_gradients(
        "arm",
        &fixture("flexible_arm.toml"),
        &[0.4, -0.3, 0.6],
        1e-6,
    );
}

/// Modes satisfy the constraints, are normalised and keep the block structure [T 5.82].
#[test]
fn local_modes_have_their_block_structure() {
    for (reducer, theta) in [
        (reducer("four_bar.toml"), vec![0.3]),
        (fixture("flexible_orthoglide.toml"), vec![0.05, -0.03, 0.11]),
        (fixture("flexible_arm.toml"), vec![0.4, -0.3, 0.6]),
    ] {
        let configuration = reducer.kinematics().solve(&theta).expect("regular");
        let at = reducer.linearise(&configuration).expect("regular");
        let modes = reducer.modes(&at).expect("modes");
        let s = theta.len();
        let n = modes.shapes.ncols();
        let joints = reducer.model().n_joint_rows();
        let mut residual = faer::Mat::zeros(at.rows.n_rows, n);
        at.rows.apply(
            reducer.model().nodes.len(),
            &modes.shapes,
            1.0,
            &mut residual,
        );
        for j in 0..n {
            let size = modes
                .shapes
                .col_as_slice(j)
                .iter()
                .fold(0.0_f64, |m, v| m.max(v.abs()));
            for r in 0..joints {
                assert!(residual[(r, j)].abs() < 1e-11 * size, "row {r} mode {j}");
            }
            for k in 0..s {
                let expected = if j == k { 1.0 } else { 0.0 };
                assert!((residual[(joints + k, j)] - expected).abs() < 1e-11 * size.max(1.0));
            }
        }
        let c = reducer.evaluate(&theta).expect("regular");
        let first = n - reducer.reference().shapes.ncols();
        for i in first..n {
            for j in first..n {
                let expected = if i == j { 1.0 } else { 0.0 };
                assert!((c.mass[i * n + j] - expected).abs() < 1e-11);
            }
        }
        for i in 0..s {
            assert!((0..n).all(|j| c.stiffness[i * n + j] == 0.0));
        }
        // Rigid motions do not strain the structure; springs live in the potential.
        let image = reducer.model().stiffness_times(&at.rigid);
        let largest = reducer
            .model()
            .elements
            .iter()
            .flat_map(|e| e.stiffness())
            .fold(0.0_f64, |m, k| m.max(k.abs()));
        assert!(image.norm_max() < 1e-13 * largest);
    }
}

/// Whole bodies and the mesh are two routes to the same rigid dynamics.
#[test]
fn rigid_coefficients_agree_with_the_full_model() {
    let mut random = Random(5);
    for file in [
        "orthoglide.toml",
        "orthoglide_parallelogram.toml",
        "four_bar_rigid.toml",
        "arm6.toml",
    ] {
        let reducer = reducer(file);
        let theta = inside(file, &mut random);
        let direct = reducer.evaluate(&theta).expect("regular");
        let configuration = reducer.kinematics().solve(&theta).expect("regular");
        let mesh = reducer.evaluate_on_mesh(&configuration).expect("regular");
        assert_close("mass", &direct.mass, &mesh.mass, 1e-13);
        assert_close(
            "gyroscopic",
            &direct.gyroscopic(),
            &mesh.gyroscopic(),
            1e-12,
        );
        assert_close("force", &direct.force, &mesh.force, 1e-12);
        for (a, b) in direct.force_gradient.iter().zip(&mesh.force_gradient) {
            assert_close("force gradient", a, b, 1e-11);
        }
        for (a, b) in direct.outputs.iter().zip(&mesh.outputs) {
            assert_close("jacobian", &a.jacobian, &b.jacobian, 1e-12);
        }
        assert_eq!(direct.potential, mesh.potential);
    }
}

/// Exact eigenmodes have exact derivatives too, single or as a subspace.
#[test]
fn eigenmode_gauges_have_exact_derivatives() {
    for (gauge, theta) in [
        ("subspace", 0.4),
        ("subspace", -1.3),
        ("track", 0.4),
        ("track", -1.3),
    ] {
        let reducer = four_bar_with(&[(
            "internal_modes = 5\ngauge = \"filtered\"",
            &format!("internal_modes = {{ in_plane = \"xz\", count = 2 }}\ngauge = \"{gauge}\""),
        )]);
        check_gradients(gauge, &reducer, &[theta], 1e-6);
    }
}

/// Two kept frequencies within 1e-6 of each other: bending in the plane of motion and across it.
#[test]
fn derivatives_do_not_care_about_nearly_equal_frequencies() {
    let arm = |gauge: &str, height: f64| {
        let text = format!(
            r#"format = 1
gravity = [0, 0, -9.81]
[[body]]
name = "upper"
beam = {{ from = [0, 0, 0], to = [0.6, 0, 0.1], elements = 3, section = {{ rectangle = {{ height = {height:e}, width = 0.02 }} }}, material = "aluminium", side = [0, 1, 0] }}
[[body]]
name = "fore"
rigid = {{ mass = 0.8, center_of_mass = [0.1, 0, 0.02], inertia = [0.002, 0.003, 0.004] }}
at = [0.6, 0, 0.1]
[[joint]]
name = "shoulder"
hinge = ["ground", "upper.from"]
axis = [0, 1, 0]
[[joint]]
name = "elbow"
hinge = ["upper.to", "fore"]
axis = [0, 1, 0]
[[coordinate]]
name = "shoulder"
drives = "shoulder"
range = [-1, 1]
[[coordinate]]
name = "elbow"
drives = "elbow"
range = [-1, 1]
[reduction]
internal_modes = 2
gauge = "{gauge}"
"#
        );
        LocalReducer::new(&mechanism_from(&text)).expect("an arm")
    };
    let theta = [0.2, 0.3];
    // The height of the section at which the two frequencies meet: the gap is a V around it.
    let gap = |height: f64| {
        let f = arm("filtered", height)
            .inspect(&theta)
            .expect("regular")
            .exact_hz;
        f[1] / f[0] - 1.0
    };
    let (mut low, mut high) = (0.017, 0.023);
    while high - low > 1e-10 {
        let third = (high - low) / 3.0;
        if gap(low + third) < gap(high - third) {
            high -= third;
        } else {
            low += third;
        }
    }
    let height = 0.5 * (low + high);
    assert!(gap(height) < 1e-6, "gap {:.1e} at {height}", gap(height));
    for gauge in ["filtered", "subspace"] {
        check_gradients(gauge, &arm(gauge, height), &theta, 1e-6);
    }
}
