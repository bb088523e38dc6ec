//! Charts for papers, as SVG that needs nothing but itself.

pub mod chart;
mod scale;

pub use chart::{Axis, Chart, Curve, Panel, Stroke, Tile};
