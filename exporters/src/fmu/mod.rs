//! A model as a Functional Mock-up Unit: one archive with description, sources, documentation and, where it was
//! compiled, a binary. Everything that it computes is in the generated C.

mod variables;
mod zip;

use crate::code::{self, ALONG, SourceFiles, c_values, plain, render};
use crate::{ExportOptions, WriteError};
use minijinja::{Value, context};
use reducer::reduced_model::ReducedModel;
use std::path::Path;
use std::process::Command;
use variables::Variables;

const TEMPLATES: &[(&str, &str)] = &[
    ALONG,
    ("core.h", include_str!("../../templates/fmu/core.h.j2")),
    (
        "derivatives.h",
        include_str!("../../templates/fmu/derivatives.h.j2"),
    ),
    ("life.h", include_str!("../../templates/fmu/life.h.j2")),
    ("fmi2.c", include_str!("../../templates/fmu/fmi2.c.j2")),
    (
        "fmi2_interface.h",
        include_str!("../../templates/fmu/fmi2_interface.h.j2"),
    ),
    ("fmi3.c", include_str!("../../templates/fmu/fmi3.c.j2")),
    (
        "fmi3_interface.h",
        include_str!("../../templates/fmu/fmi3_interface.h.j2"),
    ),
    (
        "model_description.xml",
        include_str!("../../templates/fmu/model_description.xml.j2"),
    ),
    (
        "build_description.xml",
        include_str!("../../templates/fmu/build_description.xml.j2"),
    ),
    (
        "icons.xml",
        include_str!("../../templates/fmu/icons.xml.j2"),
    ),
    (
        "documentation.html",
        include_str!("../../templates/fmu/documentation.html.j2"),
    ),
];
const ICON: &[u8] = include_bytes!("../../templates/fmu/icon.png");

/// First file of every archive that this program writes.
pub(crate) const MARK: &str = "extra/mechreduce/tool.txt";

/// Inner step in parts of the inverse of the fastest eigenvalue. The classical Runge-Kutta method is stable up to 2.6; at this
/// step its error per radian of the fastest mode is 2e-6, and far less for the modes that are excited.
const STEP_PART: f64 = 0.125;
/// Inner step of models without stiffness and damping, in s.
const FREE_STEP: f64 = 1e-3;

/// Version of the Functional Mock-up Interface.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fmi {
    /// 2.0.
    Two,
    /// 3.0.
    #[default]
    Three,
}

/// What comes in and what goes out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Interface {
    /// Forces come in, motion goes out.
    #[default]
    Forces,
    /// The motion of the actuated coordinates comes in, forces go out.
    Motion,
}

/// How an FMU is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FmuOptions {
    /// Version of the interface.
    pub fmi: Fmi,
    /// What comes in and what goes out.
    pub interface: Interface,
}

impl Fmi {
    fn number(self) -> usize {
        match self {
            Self::Two => 2,
            Self::Three => 3,
        }
    }

    /// Where the binary for this machine belongs, if the version names it.
    fn binary(self, prefix: &str) -> Option<String> {
        let (arch, os) = (std::env::consts::ARCH, std::env::consts::OS);
        let (system, ending) = match os {
            "linux" => ("linux", "so"),
            "macos" => ("darwin", "dylib"),
            _ => return None,
        };
        let folder = match (self, arch) {
            (Self::Two, "x86_64") => format!("{system}64"),
            (Self::Two, _) => return None,
            (Self::Three, _) => format!("{arch}-{system}"),
        };
        Some(format!("binaries/{folder}/{prefix}.{ending}"))
    }
}

/// A model as an FMU, and why it holds no binary if it does not.
#[derive(Debug)]
pub struct Fmu {
    /// The archive.
    pub bytes: Vec<u8>,
    /// What stood in the way of a binary.
    pub without_binary: Option<String>,
}

/// Files of an FMU without a binary: path in the archive and content.
pub fn fmu_files(
    model: &ReducedModel,
    options: &ExportOptions,
    fmu: FmuOptions,
) -> Result<SourceFiles, WriteError> {
    if options.single {
        return Err(WriteError::NotSource {
            option: "single precision",
            format: "fmu",
        });
    }
    let (prefix, shared, fastest) = c_values(model, options)?;
    if ["fmu", "fmi2", "fmi3"].contains(&prefix.to_ascii_lowercase().as_str()) {
        let what = "what sources of FMUs are called";
        return Err(WriteError::Reserved { prefix, what });
    }
    let inner_step = match fastest > 0.0 {
        true => two_digits(STEP_PART / fastest),
        false => FREE_STEP,
    };
    let variables = Variables::new(model, fmu.interface, inner_step)?;
    let facts = context! { ..facts(model, fmu, &variables, inner_step), ..shared };
    let print = |template| render(TEMPLATES, template, &facts, &prefix);
    let version = fmu.fmi.number();
    let told = format!("{}\n", plain(&model.provenance.tool)).into_bytes();
    let description = print("model_description.xml")?;
    let mut files = vec![
        (MARK.to_owned(), told),
        ("modelDescription.xml".to_owned(), description),
    ];
    for (name, template) in [("fmu_core.h", "core.h"), ("fmu_life.h", "life.h")] {
        files.push((format!("sources/{name}"), print(template)?));
    }
    let own: [&'static str; 2] = match fmu.fmi {
        Fmi::Two => ["fmi2.c", "fmi2_interface.h"],
        Fmi::Three => ["fmi3.c", "fmi3_interface.h"],
    };
    for name in own {
        files.push((format!("sources/{name}"), print(name)?));
    }
    let needed = [".c", ".h", "_tables.h"].map(|ending| format!("{prefix}{ending}"));
    for (name, bytes) in code::c_files(model, options)? {
        if needed.contains(&name) {
            files.push((format!("sources/{name}"), bytes));
        }
    }
    files.push((
        "documentation/index.html".to_owned(),
        print("documentation.html")?,
    ));
    if version == 2 {
        files.push(("model.png".to_owned(), ICON.to_vec()));
    } else {
        let build = print("build_description.xml")?;
        files.push(("sources/buildDescription.xml".to_owned(), build));
        let icons = "terminalsAndIcons/terminalsAndIcons.xml".to_owned();
        files.push((icons, print("icons.xml")?));
        files.push(("terminalsAndIcons/icon.png".to_owned(), ICON.to_vec()));
    }
    Ok(files)
}

/// An FMU with a binary for this machine where `compiler`, a C compiler with the options of gcc, makes one.
pub fn fmu(
    model: &ReducedModel,
    options: &ExportOptions,
    fmu: FmuOptions,
    compiler: Option<&str>,
) -> Result<Fmu, WriteError> {
    let mut files = fmu_files(model, options, fmu)?;
    let prefix = code::prefix(&model.layout.name, options)?;
    let compiled = match (fmu.fmi.binary(&prefix), compiler) {
        (None, _) => {
            Err("this version of FMI names no place for binaries of this machine".to_owned())
        }
        (_, None) => Err("no compiler was asked for".to_owned()),
        (Some(place), Some(compiler)) => {
            compile(&files, fmu.fmi, compiler).map(|bytes| (place, bytes))
        }
    };
    let without_binary = match compiled {
        Ok(binary) => {
            files.push(binary);
            None
        }
        Err(reason) => Some(reason),
    };
    Ok(Fmu {
        bytes: zip::archive(&files),
        without_binary,
    })
}

/// The shared library of the sources, made in a folder of its own.
fn compile(files: &SourceFiles, fmi: Fmi, compiler: &str) -> Result<Vec<u8>, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    for (name, bytes) in files {
        if let Some(name) = name.strip_prefix("sources/") {
            std::fs::write(folder.path().join(name), bytes).map_err(|e| e.to_string())?;
        }
    }
    let source = format!("fmi{}.c", fmi.number());
    let flags = "-std=c99 -O2 -ffp-contract=off -fPIC -shared -fvisibility=hidden -o model.bin";
    let done = Command::new(compiler)
        .args(flags.split(' '))
        .args([&source, "-lm"])
        .current_dir(folder.path())
        .output()
        .map_err(|e| format!("`{compiler}` cannot be run: {e}"))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let first = said.lines().next().unwrap_or_default();
        return Err(format!("`{compiler}` failed: {first}"));
    }
    read(&folder.path().join("model.bin"))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|e| e.to_string())
}

/// A number of two digits, not larger.
fn two_digits(value: f64) -> f64 {
    let scale = 10f64.powf(value.log10().floor() - 1.0);
    let text = format!("{:.1e}", (value / scale).floor() * scale);
    text.parse().unwrap_or(value)
}

/// Values that the templates of FMUs name beside those of C.
fn facts(model: &ReducedModel, fmu: FmuOptions, v: &Variables, inner_step: f64) -> Value {
    let list = |values: Vec<f64>| -> String {
        let texts: Vec<String> = values.iter().map(|v| format!("{v:?}")).collect();
        texts.join(", ")
    };
    let layout = &model.layout;
    let interface = match fmu.interface {
        Interface::Forces => "forces",
        Interface::Motion => "motion",
    };
    let domain: Vec<Value> = (0..layout.n_rigid)
        .map(|k| {
            context! {
                name => plain(&layout.coordinates[k].name),
                unit => plain(&layout.coordinates[k].unit),
                lower => layout.domain.lower[k],
                upper => layout.domain.upper[k],
                periodic => layout.domain.periodic[k],
            }
        })
        .collect();
    let friction = &layout.parameters.coulomb;
    let token = crate::model_hash(model).unwrap_or_default();
    context! {
        fmi => fmu.fmi.number(),
        motion => fmu.interface == Interface::Motion,
        token => format!("{token}-{interface}"),
        title => plain(&layout.name),
        tool => plain(&model.provenance.tool),
        about => format!("Reduced dynamic model, {} coordinates, {interface} as inputs", layout.n()),
        n_x => v.dx - v.x,
        n_u => v.y - v.u,
        n_y => v.p - v.y,
        n_p => v.inner_step - v.p,
        u_loads => v.loads,
        y_points => v.points,
        vr_x => v.x,
        vr_dx => v.dx,
        vr_u => v.u,
        vr_y => v.y,
        vr_p => v.p,
        vr_inner_step => v.inner_step,
        vr_status => v.status,
        vr_end => v.len(),
        start_x => list(v.starts(v.x..v.dx)),
        start_u => list(v.starts(v.u..v.y)),
        nominal_x => list(v.nominals()),
        inner_step => format!("{inner_step:?}"),
        coulomb => friction.iter().any(|&c| c != 0.0).then(|| list(friction.clone())),
        domain,
        units => v.units(),
        variables => v.values(),
        structure => v.structure(),
    }
}
