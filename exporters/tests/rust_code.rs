//! Generated Rust: compiled with warnings as errors, run, equal to the evaluator, free of `std`.

#[path = "support/generated.rs"]
mod generated;
mod support;

use exporters::ExportOptions;
use exporters::code::rust_files;
use generated::{run, write_rust};
use reducer::reduced_model::*;
use std::path::Path;
use std::process::Command;
use support::{Numbers, configurations, model, recipes};

fn write_crate(m: &ReducedModel, single: bool, folder: &Path) {
    let options = ExportOptions {
        single,
        prefix: None,
    };
    write_rust(m, &options, folder);
}

fn compile(folder: &Path) {
    run(Command::new("rustc")
        .current_dir(folder)
        .args([
            "--edition",
            "2024",
            "--crate-type",
            "rlib",
            "--crate-name",
            "generated",
            "-O",
            "-D",
            "warnings",
        ])
        .arg("src/lib.rs"));
}

fn literal(v: &[f64]) -> String {
    let texts: Vec<String> = v.iter().map(|x| format!("{x:e}_f64 as Real")).collect();
    format!("[{}]", texts.join(", "))
}

/// Parameters that all differ from the nominal ones.
fn changed(m: &ReducedModel) -> Parameters {
    let mut p = Parameters::nominal(&m.layout);
    p.gravity = [2.0, -3.5, 4.0];
    for (values, by) in [
        (&mut p.payload_mass, 0.6),
        (&mut p.rotor_inertia, 0.2),
        (&mut p.viscous, 0.3),
        (&mut p.coulomb, 0.7),
        (&mut p.coulomb_rate, 0.4),
    ] {
        values.iter_mut().for_each(|v| *v += by);
    }
    p
}

/// The same as the generated structure.
fn parameters(m: &ReducedModel) -> String {
    let p = changed(m);
    let mut fields = vec![
        ("rotor_inertia", literal(&p.rotor_inertia)),
        ("viscous", literal(&p.viscous)),
        ("coulomb", literal(&p.coulomb)),
        ("coulomb_rate", literal(&p.coulomb_rate)),
    ];
    if !m.layout.outputs.is_empty() {
        fields.push(("payload_mass", literal(&p.payload_mass)));
    }
    if !m.layout.outputs.is_empty() || m.layout.parameters.gravity_at_runtime {
        fields.push(("gravity", literal(&p.gravity)));
    }
    let texts: Vec<String> = fields.iter().map(|(f, v)| format!("{f}: {v}")).collect();
    format!("Parameters {{ {} }}", texts.join(", "))
}

/// A program that prints, per configuration, the results of every function in one line each.
fn driver(m: &ReducedModel, points: &[[Vec<f64>; 3]]) -> String {
    let s = m.layout.n_rigid;
    let mut text = String::from(
        "use generated::*;\nfn show(status: Status, v: &[Real]) { print!(\"{}\", status as i32); for x in v { print!(\" {:e}\", *x as f64); } println!(); }\nfn main() {\n    assert_eq!(selftest(), 0);\n",
    );
    for [eta, rate, accel] in points {
        let theta = literal(&eta[..s]);
        let (eta, rate, accel) = (literal(eta), literal(rate), literal(accel));
        text += &format!(
            "    {{ let (eta, rate, accel) = ({eta}, {rate}, {accel});\n    let mut c = Coefficients::ZERO; let status = coefficients(&{theta}, &mut c);\n    show(status, &c.mass); show(status, &c.gyroscopic); show(status, &c.stiffness); show(status, &c.damping); show(status, &c.force); show(status, &c.gravity); show(status, &c.load_map);\n    let mut f = [1.0; N]; show(inverse_dynamics(&eta, &rate, &accel, &mut f), &f);\n    let mut a = [1.0; N]; show(forward_dynamics(&eta, &rate, &f, &mut a), &a);\n"
        );
        if !m.layout.outputs.is_empty() {
            text += "    let mut o = [Output::ZERO; N_OUTPUTS]; let status = outputs(&eta, &rate, &mut o);\n    for o in &o { show(status, &o.position); show(status, &o.rotation); show(status, &o.velocity); show(status, &o.angular_velocity); show(status, &o.jacobian); }\n";
        }
        for d in &m.layout.derived {
            let (name, size) = (&d.name, d.rows * d.columns);
            text += &format!(
                "    let mut g = [1.0; {size}]; show(derived_{name}(&{theta}, &mut g), &g);\n"
            );
        }
        let p = parameters(m);
        text += &format!(
            "    show(inverse_dynamics_p(Some(&{p}), &eta, &rate, &accel, &mut f), &f);\n    }}\n"
        );
    }
    text + "}\n"
}

/// What the driver should print, from the evaluator.
fn expected(m: &ReducedModel, points: &[[Vec<f64>; 3]]) -> Vec<(i32, Vec<f64>)> {
    let evaluator = Evaluator::new(m).unwrap();
    let mut work = Workspace::default();
    let (n, s) = (evaluator.n(), evaluator.n_rigid());
    let beside = Evaluator::new(m).unwrap();
    let beside = beside.with_parameters(changed(m)).unwrap();
    let mut lines = Vec::new();
    for [eta, rate, accel] in points {
        let c = evaluator.coefficients(&eta[..s], &mut work).unwrap();
        let status = c.status as i32;
        for block in [
            &c.mass,
            &c.gyroscopic,
            &c.stiffness,
            &c.damping,
            &c.force,
            &c.gravity,
            &c.load_map.concat(),
        ] {
            lines.push((status, block.clone()));
        }
        let mut force = vec![0.0; n];
        evaluator
            .inverse_dynamics(eta, rate, accel, &mut force, &mut work)
            .unwrap();
        lines.push((status, force.clone()));
        let mut back = vec![0.0; n];
        evaluator
            .forward_dynamics(eta, rate, &force, &mut back, &mut work)
            .unwrap();
        lines.push((status, back));
        let (mut motions, _) = evaluator.outputs(eta, rate, &mut work).unwrap();
        if motions.is_empty() {
            let zero = OutputMotion {
                position: Default::default(),
                rotation: Default::default(),
                velocity: Default::default(),
                angular_velocity: Default::default(),
                jacobian: vec![0.0; 6 * n],
            };
            motions = vec![zero; m.layout.outputs.len()];
            for o in &mut motions {
                o.rotation.fill(0.0);
            }
        }
        for o in &motions {
            for block in [
                o.position.as_slice(),
                o.rotation.transpose().as_slice(),
                o.velocity.as_slice(),
                o.angular_velocity.as_slice(),
                &o.jacobian,
            ] {
                lines.push((status, block.to_vec()));
            }
        }
        let (derived, _) = evaluator.derived(&eta[..s], &mut work).unwrap();
        lines.extend(derived.into_iter().map(|values| (status, values)));
        let mut force = vec![0.0; n];
        beside
            .inverse_dynamics(eta, rate, accel, &mut force, &mut work)
            .unwrap();
        lines.push((status, force));
    }
    lines
}

fn compare(m: &ReducedModel, single: bool, tolerance: f64) {
    let folder = tempfile::tempdir().unwrap();
    write_crate(m, single, folder.path());
    compile(folder.path());
    let n = m.layout.n();
    let mut numbers = Numbers::new(21);
    let points: Vec<[Vec<f64>; 3]> = configurations(m)
        .into_iter()
        .map(|eta| [eta, numbers.vector(n, 2.0), numbers.vector(n, 3.0)])
        .collect();
    std::fs::write(folder.path().join("driver.rs"), driver(m, &points)).unwrap();
    run(Command::new("rustc").current_dir(folder.path()).args([
        "--edition",
        "2021",
        "-O",
        "--extern",
        "generated=libgenerated.rlib",
        "driver.rs",
    ]));
    let printed = run(&mut Command::new(folder.path().join("driver")));
    let expected = expected(m, &points);
    assert_eq!(printed.lines().count(), expected.len());
    for (i, (line, (status, block))) in printed.lines().zip(&expected).enumerate() {
        let mut words = line.split(' ');
        assert_eq!(
            words.next().unwrap().parse::<i32>().unwrap(),
            *status,
            "line {i}"
        );
        let found: Vec<f64> = words.map(|w| w.parse().unwrap()).collect();
        assert_eq!(found.len(), block.len());
        let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|x| x * x).sum::<f64>().sqrt();
        let difference = norm(&mut found.iter().zip(block).map(|(a, b)| a - b));
        // Accelerations, the ninth block of a point, lose digits to large elastic forces.
        let per_point = 10 + 5 * m.layout.outputs.len() + m.layout.derived.len();
        let nominal = i - i % per_point + 7;
        let force = match i % per_point {
            8 => norm(&mut expected[nominal].1.iter().copied()),
            // Parameters, the last block, may cancel the nominal force.
            place if place + 1 == per_point => norm(&mut expected[nominal].1.iter().copied()) / 3.0,
            _ => 0.0,
        };
        let scale = norm(&mut block.iter().copied()) + 3.0 * force;
        assert!(
            difference <= tolerance * scale,
            "{} line {i}: {difference:e} {scale:e} {found:?} {block:?}",
            m.layout.name
        );
    }
}

#[test]
fn double_precision_equals_the_evaluator() {
    for recipe in recipes() {
        compare(&model(&recipe), false, 1e-13);
    }
}

#[test]
fn single_precision_equals_the_evaluator_to_its_digits() {
    let recipe = support::Recipe {
        cuts: vec![],
        ..recipes()[1].clone()
    };
    compare(&model(&recipe), true, 3e-5);
}

#[test]
fn links_without_std() {
    let folder = tempfile::tempdir().unwrap();
    write_crate(&model(&recipes()[1]), false, folder.path());
    run(Command::new("rustc").current_dir(folder.path()).args([
        "--edition",
        "2024",
        "--crate-type",
        "rlib",
        "--crate-name",
        "generated",
        "-O",
        "-C",
        "panic=abort",
        "src/lib.rs",
    ]));
    let program = r#"#![no_std]
#![no_main]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }
#[no_mangle]
pub extern "C" fn run_selftest() -> u32 { generated::selftest() }
"#;
    std::fs::write(folder.path().join("bare.rs"), program).unwrap();
    run(Command::new("rustc").current_dir(folder.path()).args([
        "--edition",
        "2021",
        "--crate-type",
        "staticlib",
        "-O",
        "-C",
        "panic=abort",
        "--extern",
        "generated=libgenerated.rlib",
        "bare.rs",
    ]));
    // The prebuilt `core` names the unwinder, which `panic=abort` never calls.
    std::fs::write(folder.path().join("main.c"), "unsigned run_selftest(void); void rust_eh_personality(void) {} int main(void) { return (int)run_selftest(); }").unwrap();
    run(Command::new("gcc")
        .current_dir(folder.path())
        .args(["main.c", "libbare.a", "-o", "bare"]));
    run(&mut Command::new(folder.path().join("bare")));
    let symbols = run(Command::new("nm")
        .current_dir(folder.path())
        .args(["--undefined-only", "bare"]));
    let foreign: Vec<&str> = symbols
        .lines()
        .filter(|l| !l.contains("__libc_start_main") && l.contains(" U "))
        .collect();
    assert!(
        foreign
            .iter()
            .all(|l| l.contains("mem") || l.contains("bcmp")),
        "{foreign:?}"
    );
}

#[test]
fn two_runs_give_identical_bytes() {
    for recipe in recipes() {
        let files = || rust_files(&model(&recipe), &ExportOptions::default()).unwrap();
        assert_eq!(files(), files());
    }
}
