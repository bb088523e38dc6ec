//! Charts for papers, as SVG that needs nothing but itself.

pub mod chart;
mod figures;
mod scale;

pub use chart::{Axis, Chart, Curve, Panel, Stroke, Tile};
pub use figures::{Figure, figure};

use crate::{WriteError, files};
use std::path::Path;

/// Writes a chart.
pub fn write_svg(chart: &Chart, path: &Path) -> Result<(), WriteError> {
    files::write_whole(path, chart.to_svg().as_bytes())
}
