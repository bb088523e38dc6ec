//! One door for the command line and the pipeline.

use crate::fmu::{self, FmuOptions};
use crate::{Guard, ReadError, WriteError, casadi, code, files, hdf5, history, json, mat, report};
use reducer::reduced_model::{ObserverPlan, ReducedModel};
use reducer::survey::Survey;
use std::io::Read;
use std::path::Path;

/// Name of the report.
const REPORT: &str = "report.html";

/// What to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One JSON file.
    Json,
    /// One HDF5 file.
    Hdf5,
    /// One level-5 `.mat` file, and beside it a function that evaluates it in MATLAB and Octave.
    Mat,
    /// A folder of C99 source.
    C,
    /// A folder with a Rust crate.
    Rust,
    /// A folder with external functions of CasADi, and the model as its expressions.
    Casadi,
    /// One Functional Mock-up Unit, of FMI 3.0 with forces as inputs, for this machine where it has a compiler;
    /// [`crate::fmu`] has other kinds.
    Fmu,
}

/// How to write it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportOptions {
    /// Generated source computes in single precision.
    pub single: bool,
    /// Start of all names in generated source; the model's name where absent.
    pub prefix: Option<String>,
}

/// Writes the model in one format: a file for JSON and HDF5, a folder for source.
pub fn export(
    model: &ReducedModel,
    format: Format,
    path: &Path,
    options: &ExportOptions,
    guard: &Guard,
) -> Result<(), WriteError> {
    match format {
        Format::Json => {
            refuse_source_options("json", options)?;
            files::write_whole(path, &json::to_bytes(model)?, guard)
        }
        Format::Hdf5 => {
            refuse_source_options("hdf5", options)?;
            files::write_whole(path, &hdf5::to_bytes(model)?, guard)
        }
        Format::Mat => {
            refuse_source_options("mat", options)?;
            write_mat(model, path, guard)
        }
        Format::C => files::write_set(path, &code::c_files(model, options)?, guard),
        Format::Rust => files::write_set(path, &code::rust_files(model, options)?, guard),
        Format::Casadi => files::write_set(path, &casadi::casadi_files(model, options)?, guard),
        Format::Fmu => write_fmu(model, FmuOptions::default(), path, options, guard).map(|_| ()),
    }
}

/// Writes generated source with an observer; other formats have none.
pub fn export_with_observer(
    model: &ReducedModel,
    format: Format,
    path: &Path,
    options: &ExportOptions,
    observer: &ObserverPlan,
    guard: &Guard,
) -> Result<(), WriteError> {
    let files = match format {
        Format::C => code::c_files_with(model, options, Some(observer))?,
        Format::Rust => code::rust_files_with(model, options, Some(observer))?,
        Format::Json => return refuse_observer("json"),
        Format::Hdf5 => return refuse_observer("hdf5"),
        Format::Mat => return refuse_observer("mat"),
        Format::Casadi => return refuse_observer("casadi"),
        Format::Fmu => return refuse_observer("fmu"),
    };
    files::write_set(path, &files, guard)
}

fn refuse_observer(format: &'static str) -> Result<(), WriteError> {
    Err(WriteError::NotSource {
        option: "an observer",
        format,
    })
}

/// Writes an FMU; why it holds no binary if it does not.
pub fn write_fmu(
    model: &ReducedModel,
    fmu: FmuOptions,
    path: &Path,
    options: &ExportOptions,
    guard: &Guard,
) -> Result<Option<String>, WriteError> {
    guard.allow(path)?;
    let made = fmu::fmu(model, options, fmu, Some("cc"))?;
    files::write_whole(path, &made.bytes, guard)?;
    Ok(made.without_binary)
}

/// The file and the function that evaluates it, both or none.
fn write_mat(model: &ReducedModel, path: &Path, guard: &Guard) -> Result<(), WriteError> {
    let name = path.file_name().and_then(|n| n.to_str());
    let Some(name) = name.filter(|n| n.ends_with(".mat")) else {
        let path = path.to_owned();
        return Err(WriteError::NotMat { path });
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    let set = [
        (name.to_owned(), mat::to_bytes(model)?),
        (mat::EVALUATE.to_owned(), mat::program()),
    ];
    files::write_set(folder, &set, guard)
}

/// Model files hold every number as it is and no names of source.
fn refuse_source_options(format: &'static str, options: &ExportOptions) -> Result<(), WriteError> {
    let refused = |option| Err(WriteError::NotSource { option, format });
    if options.single {
        return refused("single precision");
    }
    if options.prefix.is_some() {
        return refused("a prefix of names");
    }
    Ok(())
}

/// Writes `model.json`, `model.h5`, `c/`, `rust/` and `report.html` into `folder`, and `history.json`
/// where the survey knows how the model was refined. Everything is generated before anything is
/// written. A model that is too large for generated source is written without it: the reason is the result, and
/// source of an earlier model is removed.
pub fn write_all(
    model: &ReducedModel,
    survey: Option<&Survey>,
    folder: &Path,
    options: &ExportOptions,
    guard: &Guard,
) -> Result<Option<WriteError>, WriteError> {
    let mut set = model_files(model)?;
    set.push((REPORT.to_owned(), report::to_html(model, survey)?));
    if let Some(survey) = survey.filter(|s| !s.history.is_empty()) {
        let bytes = history::to_bytes(model, &survey.history)?;
        set.push((history::FILE.to_owned(), bytes));
    }
    write_with_source(model, set, folder, options, guard)
}

/// As [`write_all`], without the report and the history that it shows. Earlier ones, which are of
/// another model, are removed first.
pub fn write_without_report(
    model: &ReducedModel,
    folder: &Path,
    options: &ExportOptions,
    guard: &Guard,
) -> Result<Option<WriteError>, WriteError> {
    for name in [REPORT, history::FILE] {
        files::remove_ours(&folder.join(name), guard)?;
    }
    write_with_source(model, model_files(model)?, folder, options, guard)
}

/// Writes files and generated source as one set. A model too large for source is written without it; earlier source,
/// which is of another model, is then removed.
fn write_with_source(
    model: &ReducedModel,
    mut set: code::SourceFiles,
    folder: &Path,
    options: &ExportOptions,
    guard: &Guard,
) -> Result<Option<WriteError>, WriteError> {
    let refused = match source_files(model, options) {
        Ok(source) => {
            set.extend(source);
            None
        }
        Err(error @ WriteError::TooLarge { .. }) => Some(error),
        Err(error) => return Err(error),
    };
    files::write_set(folder, &set, guard)?;
    if refused.is_some() {
        let prefix = code::prefix(&model.layout.name, options)?;
        for name in source_names(&prefix) {
            files::remove_ours(&folder.join(name), guard)?;
        }
    }
    Ok(refused)
}

/// Files of generated source, from the folder of the model.
fn source_names(prefix: &str) -> Vec<String> {
    let inside = |part: &str, names: Vec<String>| -> Vec<String> {
        names.iter().map(|n| format!("{part}/{n}")).collect()
    };
    [
        inside("c", code::c_names(prefix)),
        inside("rust", code::rust_names()),
    ]
    .concat()
}

fn model_files(model: &ReducedModel) -> Result<code::SourceFiles, WriteError> {
    Ok(vec![
        ("model.json".to_owned(), json::to_bytes(model)?),
        ("model.h5".to_owned(), hdf5::to_bytes(model)?),
    ])
}

/// Generated source in folders of its own.
fn source_files(
    model: &ReducedModel,
    options: &ExportOptions,
) -> Result<code::SourceFiles, WriteError> {
    let c = code::c_files(model, options)?.into_iter();
    let rust = code::rust_files(model, options)?.into_iter();
    let c = c.map(|(name, bytes)| (format!("c/{name}"), bytes));
    let rust = rust.map(|(name, bytes)| (format!("rust/{name}"), bytes));
    Ok(c.chain(rust).collect())
}

/// Refuses what [`write_all`] would refuse of the place and of the model's name, before there is a model.
pub fn check_all(
    name: &str,
    folder: &Path,
    options: &ExportOptions,
    guard: &Guard,
) -> Result<(), WriteError> {
    let prefix = code::prefix(name, options)?;
    let single = ["model.json", "model.h5", REPORT, history::FILE].map(str::to_owned);
    let all = [single.to_vec(), source_names(&prefix)].concat();
    guard.allow_all(folder, all.iter().map(String::as_str))
}

/// Writes the report of a model; with a survey of the full model, everything beside it.
pub fn write_report(
    model: &ReducedModel,
    survey: Option<&Survey>,
    path: &Path,
    guard: &Guard,
) -> Result<(), WriteError> {
    files::write_whole(path, &report::to_html(model, survey)?, guard)
}

/// Reads a model from a `.json` or `.h5` file. Where a run was killed while it replaced the files of
/// that folder, they are put in order first.
pub fn read_model(path: &Path) -> Result<ReducedModel, ReadError> {
    files::settle(path.parent().unwrap_or(Path::new("")))?;
    let ending = path.extension().map(|e| e.to_ascii_lowercase());
    let is = |text: &str| ending.as_deref() == Some(text.as_ref());
    if is("json") {
        json::from_bytes(&read_bounded(path, json::LARGEST)?)
    } else if is("h5") || is("hdf5") {
        hdf5::from_bytes(read_bounded(path, hdf5::LARGEST)?)
    } else {
        Err(ReadError::UnknownEnding {
            path: path.to_owned(),
        })
    }
}

/// Hash of everything in the model, 64 hexadecimal digits; equal models have equal hashes.
pub fn model_hash(model: &ReducedModel) -> Result<String, WriteError> {
    Ok(blake3::hash(&json::to_bytes(model)?).to_hex().to_string())
}

/// Reads a file of at most `largest` bytes; pipes and devices, which may never end, are refused.
pub(crate) fn read_bounded(path: &Path, largest: u64) -> Result<Vec<u8>, ReadError> {
    let refused = |source| ReadError::Io {
        path: path.to_owned(),
        source,
    };
    // Before it is opened: to open a pipe is to wait for its other end.
    let about = std::fs::metadata(path).map_err(refused)?;
    if !about.is_file() && !about.is_dir() {
        return Err(ReadError::NotAFile {
            path: path.to_owned(),
        });
    }
    let file = std::fs::File::open(path).map_err(refused)?;
    let mut bytes = Vec::new();
    file.take(largest + 1)
        .read_to_end(&mut bytes)
        .map_err(refused)?;
    let found = bytes.len() as u64;
    if found > largest {
        return Err(ReadError::TooLarge { found, largest });
    }
    Ok(bytes)
}
