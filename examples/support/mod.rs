//! What the examples share: a generated model, a controller that runs as a program of its own, and
//! the full model in the place of the machine.

use exporters::{ExportOptions, Format, Guard};
use reducer::approximation::{SampleDatabase, Silent};
use reducer::description::load;
use reducer::dynamics::excitation::{Drive, Excitation};
use reducer::dynamics::full::{FullInstant, FullSettings, Initial, simulate};
use reducer::dynamics::scenario;
use reducer::pipeline;
use reducer::sampling::MechanismModel;
use std::cell::RefCell;
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Anything that can go wrong in an example.
pub type Failure = Box<dyn Error>;

/// Time between two calls of a controller (s).
pub const PERIOD: f64 = 1e-3;

/// A file of this folder.
pub fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples")
        .join(name)
}

/// Reduces `data/<name>.toml` and writes the model, C and Rust included, into `folder`.
pub fn reduced(name: &str, folder: &Path) -> Result<MechanismModel, Failure> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let mechanism = load(&data.join(format!("{name}.toml"))).map_err(|_| "not a mechanism")?;
    let local = MechanismModel::new(&mechanism)?;
    let mut samples = SampleDatabase::in_memory();
    let (model, summary) =
        pipeline::reduce(&local, &mechanism.approximation, &Silent, &mut samples)?;
    if !summary.reached {
        return Err("the model misses its tolerance".into());
    }
    let options = ExportOptions::default();
    exporters::write_all(&model, None, folder, &options, &Guard::default())?;
    Ok(local)
}

/// Writes the C of a model again, with the observer that a scenario declares.
#[allow(dead_code)] // one example has no observer
pub fn with_observer(folder: &Path, file: &Path) -> Result<(), Failure> {
    let model = exporters::read_model(&folder.join("model.json"))?;
    let scenario = scenario::load(file).map_err(|_| "not a scenario")?;
    let settings = &scenario.observer().ok_or("no observer")?.settings;
    let plan = settings.plan(&settings.evaluator(&model)?)?;
    let (options, guard) = (ExportOptions::default(), Guard::default());
    let folder = folder.join("c");
    exporters::export_with_observer(&model, Format::C, &folder, &options, &plan, &guard)?;
    Ok(())
}

fn compile(command: &mut Command) -> Result<(), Failure> {
    let status = command.status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{command:?}: {status}").into())
    }
}

/// Compiles a controller in C with the generated model beside it.
pub fn compile_c(name: &str, source: &Path, folder: &Path) -> Result<PathBuf, Failure> {
    let program = folder.join("controller_c");
    let model = folder.join("c");
    compile(
        Command::new("cc")
            .args([
                "-std=c99",
                "-O2",
                "-Wall",
                "-Wextra",
                "-Wpedantic",
                "-Werror",
            ])
            .arg("-I")
            .arg(&model)
            .arg("-o")
            .arg(&program)
            .arg(source)
            .arg(model.join(format!("{name}.c")))
            .arg("-lm"),
    )?;
    Ok(program)
}

/// Compiles a controller in Rust with the generated crate.
#[allow(dead_code)] // one example has no controller in Rust
pub fn compile_rust(name: &str, source: &Path, folder: &Path) -> Result<PathBuf, Failure> {
    let program = folder.join("controller_rust");
    let rustc = || {
        let mut command = Command::new("rustc");
        command.args(["--edition", "2024", "-O", "-D", "warnings"]);
        command
    };
    compile(
        rustc()
            .args(["--crate-type", "rlib", "--crate-name", name])
            .arg("--out-dir")
            .arg(folder)
            .arg(folder.join("rust/src/lib.rs")),
    )?;
    compile(
        rustc()
            .arg("-L")
            .arg(folder)
            .arg("--extern")
            .arg(name)
            .arg("-o")
            .arg(&program)
            .arg(source),
    )?;
    Ok(program)
}

/// A controller at work: one line in, one line out.
pub struct Controller {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Controller {
    /// Starts it.
    pub fn start(program: &Path, argument: &str) -> Result<Self, Failure> {
        let mut child = Command::new(program)
            .arg(argument)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let to = child.stdin.take().ok_or("no input")?;
        let from = BufReader::new(child.stdout.take().ok_or("no output")?);
        Ok(Self { child, to, from })
    }

    /// Hands over a sample and waits for the answer.
    pub fn step(&mut self, sample: &[f64]) -> Result<Vec<f64>, Failure> {
        let text: Vec<String> = sample.iter().map(|v| format!("{v:e}")).collect();
        writeln!(self.to, "{}", text.join(" "))?;
        self.to.flush()?;
        let mut line = String::new();
        self.from.read_line(&mut line)?;
        let answer: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
        match answer {
            Ok(values) if !values.is_empty() => Ok(values),
            _ => Err(format!("the controller stopped at t = {} s", sample[0]).into()),
        }
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        // It has nothing to save; a program that is gone already is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An actuator: from the input that the controller holds and the coordinate's rate to a force, and
/// the force's derivative by the rate.
pub type Actuator = fn(k: usize, input: f64, rate: f64) -> (f64, f64);

/// Inputs that stay as they are until the controller is called again.
struct Held {
    inputs: RefCell<Vec<f64>>,
    actuator: Actuator,
}

impl Excitation for Held {
    fn is_prescribed(&self, _: usize) -> bool {
        false
    }

    fn drive(&self, k: usize, _: f64, _: f64, rate: f64) -> Drive {
        let (force, by_rate) = (self.actuator)(k, self.inputs.borrow()[k], rate);
        Drive::Force {
            force,
            by_position: 0.0,
            by_rate,
        }
    }

    fn point_force(&self, _: usize, _: f64) -> Option<nalgebra::Vector3<f64>> {
        None
    }

    fn breaks(&self) -> &[f64] {
        &[]
    }
}

/// Runs the full model with a controller for some seconds. `sense` makes a sample from an instant
/// (none: at rest at the start); `watch` sees every instant and the answer to it.
pub fn close_loop(
    machine: &MechanismModel,
    controller: &mut Controller,
    actuator: Actuator,
    initial: &Initial,
    seconds: f64,
    sense: &dyn Fn(Option<&FullInstant>) -> Vec<f64>,
    watch: &mut dyn FnMut(&FullInstant, &[f64]),
) -> Result<(), Failure> {
    let held = Held {
        inputs: RefCell::new(controller.step(&sense(None))?),
        actuator,
    };
    let mut fault = None;
    simulate(
        machine.reducer(),
        &held,
        initial,
        &FullSettings::new(seconds, PERIOD),
        &mut |instant| match controller.step(&sense(Some(instant))) {
            Ok(answer) => {
                watch(instant, &answer);
                *held.inputs.borrow_mut() = answer;
                ControlFlow::Continue(())
            }
            Err(e) => {
                fault = Some(e);
                ControlFlow::Break(())
            }
        },
    )?;
    fault.map_or(Ok(()), Err)
}
