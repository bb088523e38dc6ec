//! Generated C: compiled with warnings as errors, run, and equal to the evaluator.

#[path = "support/generated.rs"]
mod generated;
mod support;

use exporters::ExportOptions;
use exporters::code::c_files;
use generated::{Generated, WARNINGS, close, compilers, norm, run, write_c};
use reducer::reduced_model::*;
use std::process::Command;
use support::{Numbers, configurations, model, recipes};

fn flat_coefficients(c: &ModelCoefficients) -> Vec<Vec<f64>> {
    vec![
        c.mass.clone(),
        c.gyroscopic.clone(),
        c.stiffness.clone(),
        c.damping.clone(),
        c.force.clone(),
        c.gravity.clone(),
        c.load_map.concat(),
    ]
}

fn flat_output(m: &OutputMotion) -> Vec<Vec<f64>> {
    vec![
        m.position.as_slice().to_vec(),
        m.rotation.transpose().as_slice().to_vec(),
        m.velocity.as_slice().to_vec(),
        m.angular_velocity.as_slice().to_vec(),
        m.jacobian.clone(),
    ]
}

/// Splits a struct of arrays into blocks of the lengths of the expected ones.
fn split(flat: &[f64], like: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut rest = flat;
    like.iter()
        .map(|block| {
            let (head, tail) = rest.split_at(block.len());
            rest = tail;
            head.to_vec()
        })
        .collect()
}

fn condition_of_mass(c: &ModelCoefficients, n: usize) -> f64 {
    // Diagonally dominant masses of the synthetic models: Gershgorin bounds both ends.
    let row = |i: usize| {
        (0..n)
            .filter(|&j| j != i)
            .map(|j| c.mass[i * n + j].abs())
            .sum::<f64>()
    };
    let low = (0..n)
        .map(|i| c.mass[i * n + i] - row(i))
        .fold(f64::MAX, f64::min)
        .max(1e-2);
    let high = (0..n)
        .map(|i| c.mass[i * n + i] + row(i))
        .fold(0.0, f64::max);
    high / low
}

fn compare_with_evaluator(model: &ReducedModel, c: &Generated, tolerance: f64) {
    let evaluator = Evaluator::new(model).unwrap();
    let mut work = Workspace::default();
    let (n, s) = (evaluator.n(), evaluator.n_rigid());
    let mut numbers = Numbers::new(5);
    let mut seen = std::collections::BTreeSet::new();
    for eta in configurations(model) {
        let (rate, accel) = (numbers.vector(n, 2.0), numbers.vector(n, 3.0));
        let expected = evaluator.coefficients(&eta[..s], &mut work).unwrap();
        let code = expected.status as i32;
        seen.insert(code);

        let blocks = flat_coefficients(&expected);
        let length = blocks.iter().map(Vec::len).sum();
        let (status, out) = c.call("coefficients", &[&eta[..s]], &[length]);
        assert_eq!(status, code, "{eta:?}");
        for (i, (found, block)) in split(&out[0], &blocks).iter().zip(&blocks).enumerate() {
            close(&format!("block {i} at {eta:?}"), found, block, tolerance);
        }

        let mut force = vec![0.0; n];
        evaluator
            .inverse_dynamics(&eta, &rate, &accel, &mut force, &mut work)
            .unwrap();
        let (status, out) = c.call("inverse_dynamics", &[&eta, &rate, &accel], &[n]);
        assert_eq!(status, code);
        close("force", &out[0], &force, tolerance);

        let mut expected_accel = vec![0.0; n];
        evaluator
            .forward_dynamics(&eta, &rate, &force, &mut expected_accel, &mut work)
            .unwrap();
        let (status, out) = c.call("forward_dynamics", &[&eta, &rate, &force], &[n]);
        assert_eq!(status, code);
        let loss =
            condition_of_mass(&expected, n) * (norm(&force) / norm(&expected_accel)).max(1.0);
        close("acceleration", &out[0], &expected_accel, tolerance * loss);

        let (derived, _) = evaluator.derived(&eta[..s], &mut work).unwrap();
        for (info, values) in model.layout.derived.iter().zip(&derived) {
            let function = format!("derived_{}", info.name);
            let (status, out) = c.call(&function, &[&eta[..s]], &[values.len()]);
            assert_eq!(status, code);
            close(&info.name, &out[0], values, tolerance);
        }

        let state = [eta.clone(), rate.clone()].concat();
        let (status, dx) = c.call("state_derivative", &[&state, &force], &[2 * n]);
        assert_eq!(status, code);
        assert_eq!(dx[0][n..], out[0][..]);
        if code < 2 {
            close("rates", &dx[0][..n], &rate, tolerance);
        }

        if !model.layout.outputs.is_empty() {
            let (motions, _) = evaluator.outputs(&eta, &rate, &mut work).unwrap();
            let each = 18 + 6 * n;
            let (status, out) = c.call(
                "outputs",
                &[&eta, &rate],
                &[each * model.layout.outputs.len()],
            );
            assert_eq!(status, code);
            for (o, motion) in motions.iter().enumerate() {
                let blocks = flat_output(motion);
                for (i, (found, block)) in split(&out[0][o * each..], &blocks)
                    .iter()
                    .zip(&blocks)
                    .enumerate()
                {
                    close(&format!("output {o}, part {i}"), found, block, tolerance);
                }
            }
            if code >= 2 {
                assert!(out[0].iter().all(|&x| x == 0.0));
            }
        }
    }
    assert!(
        seen.contains(&0) && (seen.contains(&1) || model.layout.domain.periodic[0]),
        "{seen:?}"
    );
}

#[test]
fn double_precision_equals_the_evaluator() {
    for compiler in compilers() {
        for recipe in recipes() {
            let m = model(&recipe);
            let c = Generated::new(&m, compiler, false, &[]);
            compare_with_evaluator(&m, &c, 1e-13);
            assert_eq!(c.selftest(), 0, "{}", recipe.name);
        }
    }
}

#[test]
fn single_precision_equals_the_evaluator_to_its_digits() {
    for recipe in recipes() {
        // Configurations at faces may round into a neighbouring box, which matters across jumps.
        let m = model(&support::Recipe {
            cuts: vec![],
            drop_first: false,
            ..recipe
        });
        let c = Generated::new(&m, "gcc", true, &[]);
        compare_with_evaluator(&m, &c, 3e-5);
        assert_eq!(c.selftest(), 0);
    }
}

#[test]
fn arguments_that_are_not_finite_give_zeros() {
    for recipe in recipes() {
        let m = model(&recipe);
        let c = Generated::new(&m, "gcc", false, &[]);
        let (n, s) = (m.layout.n(), m.layout.n_rigid);
        let y = 9 * m.layout.outputs.len();
        let good = vec![0.1; 2 * n];
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for place in 0..n {
                let mut vector = vec![0.1; n];
                vector[place] = bad;
                let zero = |(status, out): (i32, Vec<Vec<f64>>)| {
                    assert_eq!(status, 3);
                    assert!(out.iter().flatten().all(|&x| x == 0.0));
                };
                for position in 0..3 {
                    let mut arguments = [&good[..n], &good[..n], &good[..n]];
                    arguments[position] = &vector;
                    zero(c.call("inverse_dynamics", &arguments, &[n]));
                    zero(c.call("forward_dynamics", &arguments, &[n]));
                    zero(c.call(
                        "linearize",
                        &arguments,
                        &[4 * n * n, 2 * n * n, y * 2 * n, y * n],
                    ));
                    if place < s {
                        zero(c.call("feedforward", &arguments, &[s, n - s]));
                    }
                }
                let state = [vector.clone(), vec![0.1; n]].concat();
                zero(c.call("state_derivative", &[&state, &good], &[2 * n]));
                if place < s {
                    zero(c.call(
                        "coefficients",
                        &[&vector],
                        &[n * n * n + 3 * n * n + 2 * n + m.layout.loaded.len() * n],
                    ));
                }
                let mut x = state;
                assert_eq!(c.step(&mut x, &good, 1e-3), 3);
                assert!(x.iter().all(|&v| v == 0.0));
            }
        }
        // Results beyond the range of numbers count as not finite as well.
        let huge = vec![1e200; n];
        let (status, out) = c.call("inverse_dynamics", &[&good[..n], &huge, &huge], &[n]);
        assert!(
            out[0].iter().all(|x| x.is_finite())
                && (status == 3 || recipe.form == ModelForm::Direct)
        );
    }
}

#[test]
fn feedforward_satisfies_the_modal_rows() {
    let m = model(&recipes()[1]);
    let c = Generated::new(&m, "gcc", false, &[]);
    let evaluator = Evaluator::new(&m).unwrap();
    let mut work = Workspace::default();
    let (n, s) = (m.layout.n(), m.layout.n_rigid);
    let (status, out) = c.call("feedforward", &[&[0.2], &[1.5], &[2.0]], &[s, n - s]);
    assert_eq!(status, 0);
    let pad = |v: f64, rest: &[f64]| [&[v], rest].concat();
    let zeros = vec![0.0; n - s];
    let mut force = vec![0.0; n];
    let (rate, accel) = (pad(1.5, &zeros), pad(2.0, &zeros));
    evaluator
        .inverse_dynamics(&pad(0.2, &out[1]), &rate, &accel, &mut force, &mut work)
        .unwrap();
    assert!((force[0] - out[0][0]).abs() <= 1e-13 * force[0].abs());
    assert!(norm(&out[1]) > 1e-5);
    let mut unbalanced = vec![0.0; n];
    evaluator
        .inverse_dynamics(&pad(0.2, &zeros), &rate, &accel, &mut unbalanced, &mut work)
        .unwrap();
    assert!(
        norm(&force[s..]) < 1e-6 * norm(&unbalanced[s..]),
        "{force:?} {unbalanced:?}"
    );
}

#[test]
fn steps_converge_with_fourth_order() {
    let m = model(&recipes()[3]);
    let c = Generated::new(&m, "gcc", false, &[]);
    let n = m.layout.n();
    let integrate = |steps: usize| {
        let mut x = vec![0.05; 2 * n];
        for _ in 0..steps {
            assert_eq!(c.step(&mut x, &vec![0.3; n], 0.2 / steps as f64), 0);
        }
        x
    };
    let reference = integrate(512);
    let error = |steps| {
        norm(
            &integrate(steps)
                .iter()
                .zip(&reference)
                .map(|(a, b)| a - b)
                .collect::<Vec<_>>(),
        )
    };
    let order = (error(4) / error(8)).log2();
    assert!((3.7..4.4).contains(&order), "order {order}");
}

#[test]
fn sources_compile_as_cpp_and_example_runs() {
    for recipe in recipes() {
        for single in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            write_c(
                &model(&recipe),
                &ExportOptions {
                    single,
                    prefix: None,
                },
                folder.path(),
            );
            let file = |end: &str| folder.path().join(format!("{}{end}", recipe.name));
            for source in [file(".c"), file("_selftest.c")] {
                run(Command::new("g++")
                    .args([
                        "-std=c++11",
                        "-Wall",
                        "-Wextra",
                        "-Wpedantic",
                        "-Wshadow",
                        "-Werror",
                        "-x",
                        "c++",
                        "-c",
                        "-o",
                        "/dev/null",
                    ])
                    .arg(source));
            }
            let program = folder.path().join("example");
            run(Command::new("gcc")
                .args(WARNINGS)
                // Tables that no function uses are found in headers as well.
                .args([
                    "-O1",
                    "-Wunused-const-variable=2",
                    "-fsanitize=address,undefined",
                    "-fno-sanitize-recover=all",
                    "-o",
                ])
                .arg(&program)
                .args([
                    file(".c"),
                    file("_selftest.c"),
                    folder.path().join("example_main.c"),
                ])
                .arg("-lm"));
            assert!(
                run(&mut Command::new(&program)).starts_with("status 0"),
                "{}",
                recipe.name
            );
        }
    }
}

#[test]
fn stated_stack_covers_what_the_compiler_uses() {
    for recipe in recipes() {
        let folder = tempfile::tempdir().unwrap();
        write_c(&model(&recipe), &ExportOptions::default(), folder.path());
        let header =
            std::fs::read_to_string(folder.path().join(format!("{}.h", recipe.name))).unwrap();
        let line = header
            .lines()
            .find(|l| l.contains("Worst-case stack"))
            .unwrap();
        let stated: usize = line
            .split_whitespace()
            .find_map(|w| w.parse().ok())
            .unwrap();
        run(Command::new("gcc")
            .current_dir(folder.path())
            .args(["-O2", "-std=c99", "-fstack-usage", "-fno-inline", "-c"])
            .arg(format!("{}.c", recipe.name)));
        let usage =
            std::fs::read_to_string(folder.path().join(format!("{}.su", recipe.name))).unwrap();
        let of = |function: &str| -> usize {
            let name = format!("{}_{function}", recipe.name);
            usage
                .lines()
                .filter_map(|l| {
                    let mut words = l.split('\t');
                    // A copy that the compiler made for certain arguments has a suffix.
                    let found = words.next()?.rsplit(':').next()?.split('.').next()?;
                    (found == name).then(|| words.next()?.parse::<usize>().ok())?
                })
                .sum()
        };
        // The deepest chains, functions called one from the other.
        let table = |t: &str| {
            of(&format!("{t}_rate_at")).max(of(&format!("{t}_bend_at")) + of("fill_derivatives"))
        };
        let parameters =
            of("add_parameters") + table("motion").max(of("motion_at") + of("motion_sum"));
        let bend = of("motion_bend_slope_at") + of("fill_derivatives");
        let payload = of("add_payload_by_theta") + table("motion").max(bend);
        let column = of("force_by_theta") + payload.max(table("dynamics")).max(of("equations"));
        let written = (of("inertia_by_rates") + of("add_products"))
            .max(of("damping_matrix") + of("lower_product"));
        let rates =
            of("force_by_rates") + (of("residual") + parameters.max(of("equations"))).max(written);
        let statics = (of("statics") + of("rest")).max(of("nominal") + of("equations"));
        let modal = of("force_by_modals")
            + (statics.max(of("inertia_by_modals")))
                .max(of("add_payload_by_modal") + table("motion"));
        let rows = of("output_rows") + table("motion").max(of("output"));
        let start = of("accelerate")
            + (of("dynamics_at") + of("dynamics_sum")).max(of("residual") + parameters);
        let deepest =
            of("linearize") + of("linearize_p") + column.max(modal).max(rates).max(rows).max(start);
        let fed = of("feedforward")
            + of("feedforward_p")
            + of("bend")
            + of("factored_stiffness")
            + modal.max(of("inertia_parts_at"));
        let step =
            of("step") + of("step_p") + of("state_derivative_p") + of("forward_dynamics_p") + start;
        for name in [
            "linearize_p",
            "dynamics_sum",
            "force_by_rates",
            "feedforward_p",
        ] {
            assert!(of(name) > 0, "{name}");
        }
        assert!(
            deepest.max(step).max(fed) <= stated,
            "{}: {deepest}, {step} or {fed} > {stated}",
            recipe.name
        );
    }
}

#[test]
fn two_runs_give_identical_bytes() {
    for recipe in recipes() {
        for single in [false, true] {
            let options = ExportOptions {
                single,
                prefix: Some("control".into()),
            };
            let files = || c_files(&model(&recipe), &options).unwrap();
            assert_eq!(files(), files());
            let source = String::from_utf8(files().remove(1).1).unwrap();
            assert!(source.contains("int control_inverse_dynamics("));
            assert!(!source.contains('@') && !source.contains(&format!("{}_", recipe.name)));
        }
    }
}

#[test]
fn names_of_a_hostile_model_stay_in_comments() {
    let mut m = model(&recipes()[1]);
    m.layout.coordinates[0].name = "x*/ #error \\\n boom".into();
    m.layout.outputs[0] = "tip1".into();
    m.layout.outputs[1] = "tip1\u{e9}??/".into();
    m.layout.name = "../9 lives*/".into();
    let options = ExportOptions {
        single: false,
        prefix: Some("safe".into()),
    };
    let folder = tempfile::tempdir().unwrap();
    write_c(&m, &options, folder.path());
    run(Command::new("gcc")
        .args(WARNINGS)
        .args(["-c", "-o", "/dev/null"])
        .arg(folder.path().join("safe.c")));
    assert!(
        c_files(
            &m,
            &ExportOptions {
                prefix: Some("a-b".into()),
                single: false
            }
        )
        .is_err()
    );
    let names: Vec<String> = c_files(&m, &ExportOptions::default())
        .unwrap()
        .into_iter()
        .map(|f| f.0)
        .collect();
    assert!(names.iter().all(|n| !n.contains('/')), "{names:?}");
}

#[test]
fn a_model_without_any_box_is_undefined_everywhere() {
    let mut m = model(&recipes()[0]);
    m.tree = vec![TreeNode::Dropped {
        reason: DropReason::Outside,
    }];
    m.boxes.clear();
    let c = Generated::new(&m, "gcc", false, &[]);
    assert_eq!(c.selftest(), 0);
    let (status, out) = c.call("inverse_dynamics", &[&[0.1], &[1.0], &[1.0]], &[1]);
    assert_eq!((status, out[0][0]), (2, 0.0));
}
