//! What can go wrong between a model and its files.

use reducer::reduced_model::{FORMATS, InvalidModel};
use std::path::PathBuf;

/// Why a file is not read as a model.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The operating system refuses.
    #[error("cannot read `{path}`: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The ending says nothing about the format.
    #[error("`{path}` ends neither in .json nor in .h5: give a model file that `reduce` wrote", path = path.display())]
    UnknownEnding {
        /// The file.
        path: PathBuf,
    },
    /// A pipe or a device.
    #[error("`{path}` is a pipe or a device: save what it gives to a file, and give that", path = path.display())]
    NotAFile {
        /// What it is called.
        path: PathBuf,
    },
    /// A run was killed while it replaced the files of a folder, and they cannot be put in order.
    #[error(
        "`{folder}` was left half replaced by a run that was killed, and cannot be put in order: {source}; its new files are in .reduce-pending: make the folder writable, or run the command there again",
        folder = folder.display()
    )]
    Unsettled {
        /// The folder.
        folder: PathBuf,
        /// What stands in the way.
        source: std::io::Error,
    },
    /// Larger than any model.
    #[error("the file has {found} bytes; models have at most {largest}: check that it is a model")]
    TooLarge {
        /// Bytes of the file.
        found: u64,
        /// Most bytes that are read.
        largest: u64,
    },
    /// More parts than any model has.
    #[error("the file has {found} {what}; models have at most {largest}: check that it is a model")]
    TooMany {
        /// Which parts.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        largest: usize,
    },
    /// Not JSON, or not the JSON of a model.
    #[error(
        "line {line}, column {column}: {fact}; the file is damaged, truncated or not a model: make it again"
    )]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong there.
        fact: String,
    },
    /// Not the history of a refinement.
    #[error("`{path}` is damaged: {fact}; remove it, or make the model again", path = path.display())]
    History {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        fact: String,
    },
    /// Not HDF5, or not the HDF5 of a model.
    #[error(
        "HDF5 object `{object}`: {fact}; the file is damaged, truncated or not a model: make it again"
    )]
    Hdf5 {
        /// Path in the file.
        object: String,
        /// What is wrong there.
        fact: String,
    },
    /// Written by another version.
    #[error(
        "the model has format {found}; this version reads formats {} and {}: reduce the mechanism again with this version, or use the version that wrote the model",
        FORMATS[0], FORMATS[1]
    )]
    Format {
        /// Format of the file.
        found: u64,
    },
    /// Well-formed, but no model.
    #[error(transparent)]
    Invalid(#[from] InvalidModel),
}

/// Why a model is not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The operating system refuses.
    #[error("cannot write `{path}`: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The same command reads it.
    #[error("`{path}` is read by the same command and is not replaced", path = path.display())]
    Input {
        /// The file.
        path: PathBuf,
    },
    /// A file of someone else.
    #[error("`{path}` exists, was not written by this program and is not replaced", path = path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// No coordinate has this name.
    #[error("there is no line along `{along}`")]
    NoLine {
        /// The name.
        along: String,
    },
    /// The model holds nothing of what a figure shows.
    #[error("{fact}: {help}")]
    NothingToPlot {
        /// What is missing.
        fact: &'static str,
        /// What to try.
        help: &'static str,
    },
    /// The data is no model.
    #[error(transparent)]
    Invalid(#[from] InvalidModel),
    /// The prefix is no name in C and Rust.
    #[error(
        "`{prefix}` cannot start names in C and Rust, which are letters, digits and _, a letter first, here at most 40"
    )]
    Prefix {
        /// The prefix.
        prefix: String,
    },
    /// The prefix names something of C or of the build already.
    #[error(
        "`{prefix}` cannot start names in generated source: it is {what}; `{prefix}_model` could"
    )]
    Reserved {
        /// The prefix.
        prefix: String,
        /// What has this name.
        what: &'static str,
    },
    /// An option of generated source with a format that has none.
    #[error("{option} is for generated source, not for {format}")]
    NotSource {
        /// What was asked for.
        option: &'static str,
        /// The format.
        format: &'static str,
    },
    /// A `.mat` file of another name, which MATLAB would not load as such.
    #[error("`{path}` does not end in .mat: give such a name", path = path.display())]
    NotMat {
        /// The place.
        path: PathBuf,
    },
    /// A model too large for generated code.
    #[error(
        "{what}: {found}, generated code holds at most {largest}: loosen the tolerance or use the JSON or HDF5 model"
    )]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// How large it is.
        found: usize,
        /// How large it may be.
        largest: usize,
    },
    /// A number beyond single precision.
    #[error("{value:e} is beyond single precision")]
    BeyondSingle {
        /// The number.
        value: f64,
    },
    /// The HDF5 library refuses.
    #[error("cannot write HDF5: {fact}")]
    Hdf5 {
        /// What it says.
        fact: String,
    },
    /// A template and its data do not fit.
    #[error("cannot print source from template `{template}`: {fact}; please report this")]
    Template {
        /// The template.
        template: &'static str,
        /// What is wrong.
        fact: String,
    },
}
