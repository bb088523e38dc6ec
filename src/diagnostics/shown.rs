//! Errors in the form that miette renders.

use super::{Place, visible};
use miette::{Diagnostic, LabeledSpan, NamedSource, ReportHandler, SourceCode};
use reducer::error::Explain;
use std::fmt;

/// Lines longer than this are not shown: they are data, not something to read.
const LONGEST_LINE: usize = 400;

/// An error as text.
pub(super) struct Rendered<'a>(pub &'a dyn ReportHandler, pub &'a Shown<'a>);

impl fmt::Display for Rendered<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.debug(self.1, out)
    }
}

/// An error in the form that miette renders.
#[derive(Debug)]
pub(super) struct Shown<'a> {
    error: &'a dyn Explain,
    message: String,
    source: Option<NamedSource<String>>,
    label: Option<LabeledSpan>,
}

impl<'a> Shown<'a> {
    pub fn new(error: &'a dyn Explain, place: Option<Place<'_>>) -> Self {
        let mut message = visible(&error.to_string());
        let mut source = None;
        let mut label = None;
        match place {
            Some(place) if place.line_length <= LONGEST_LINE => {
                let text = visible(&place.source.text);
                source = Some(NamedSource::new(visible(&place.source.path), text));
                let length = place.end - place.start;
                label = Some(LabeledSpan::new(Some("here".into()), place.start, length));
            }
            Some(place) => {
                let Place { line, column, .. } = place;
                message = format!("{}:{line}:{column}: {message}", visible(&place.source.path));
            }
            None => {}
        }
        Self {
            error,
            message,
            source,
            label,
        }
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Shown<'_> {}

impl Diagnostic for Shown<'_> {
    fn help<'s>(&'s self) -> Option<Box<dyn fmt::Display + 's>> {
        self.error
            .help()
            .map(|help| Box::new(visible(&help)) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.label
            .clone()
            .map(|label| Box::new(std::iter::once(label)) as Box<dyn Iterator<Item = LabeledSpan>>)
    }
}
