//! Line charts: panels under one another, each with axes, curves and a legend.
//!
//! Colours are those of Okabe and Ito, which stay apart for colour-blind readers; where curves are
//! more than colours, dashes tell them apart, also in print without colour.

use super::scale::{Scale, Tick};
use std::fmt::Write;

/// A chart of one or more panels.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chart {
    /// Title above all panels; empty for none.
    pub title: String,
    /// What it shows, for readers who cannot see it.
    pub description: String,
    /// From top to bottom.
    pub panels: Vec<Panel>,
}

/// One pair of axes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Panel {
    /// Title above the panel; empty for none.
    pub title: String,
    /// Horizontal axis.
    pub horizontal: Axis,
    /// Vertical axis.
    pub vertical: Axis,
    /// Drawn in this order.
    pub curves: Vec<Curve>,
    /// Coloured rectangles under the curves.
    pub tiles: Vec<Tile>,
    /// Horizontal lines across the panel with their names, for example a tolerance.
    pub references: Vec<(String, f64)>,
}

/// An axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Axis {
    /// Quantity and unit, for example `position [m]`.
    pub label: String,
    /// Decades instead of a linear scale; what is not positive is not drawn.
    pub logarithmic: bool,
}

/// A named sequence of points.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Curve {
    /// Name in the legend; curves without one are left out of it.
    pub label: String,
    /// Horizontal and vertical values; a value that is not finite interrupts the curve.
    pub points: Vec<[f64; 2]>,
    /// How it is drawn.
    pub stroke: Stroke,
    /// Which colour; curves that belong together may share one.
    pub colour: usize,
}

/// How a curve is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stroke {
    /// A line, dashed from the eighth colour on.
    #[default]
    Solid,
    /// A dashed line.
    Dashed,
    /// A broad, pale line for others to lie on.
    Broad,
    /// Circles at the points.
    Circles,
    /// Crosses at the points.
    Crosses,
    /// Small dots at the points.
    Dots,
}

/// A coloured rectangle.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tile {
    /// Ends along the horizontal axis.
    pub horizontal: [f64; 2],
    /// Ends along the vertical axis.
    pub vertical: [f64; 2],
    /// Place on the colour ramp, from 0 (dark) to 1 (light).
    pub shade: f64,
    /// Text inside, where it fits.
    pub text: String,
}

const WIDTH: f64 = 760.0;
const PANEL_HEIGHT: f64 = 250.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 24.0;
const FONT: f64 = 13.0;
/// Width of a character over the font's size, generous for the fonts named in the style.
const CHARACTER: f64 = 0.58;
const COLOURS: [&str; 7] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#a66f00", "#3a9fd8", "#000000",
];
const DASHES: [&str; 4] = ["", "7 4", "2 3", "9 3 2 3"];
const STYLE: &str = "text{font-family:Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif;font-size:13px;fill:#222}.title{font-size:16px;font-weight:bold}.panel{font-weight:bold}.axis{stroke:#222;fill:none}.grid{stroke:#ddd;fill:none}.reference{stroke:#555;stroke-dasharray:4 3;fill:none}.line{fill:none;stroke-width:1.8;stroke-linejoin:round}.broad{fill:none;stroke-width:5;stroke-opacity:.35;stroke-linejoin:round}.circle{fill:none;stroke-width:1.2}.cross{fill:none;stroke-width:1.6}.dot{fill:none;stroke-width:2.6;stroke-linecap:round}.tile{stroke:#fff;stroke-width:.8}";

impl Chart {
    /// The chart as one SVG document.
    pub fn to_svg(&self) -> String {
        let mut body = String::new();
        let mut top = if self.title.is_empty() { 10.0 } else { 40.0 };
        if !self.title.is_empty() {
            text(
                &mut body,
                [WIDTH / 2.0, 26.0],
                "title",
                "middle",
                &escape(&self.title),
            );
        }
        for panel in &self.panels {
            top = panel.draw(&mut body, top);
        }
        let height = top + 6.0;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height:.0}\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\">\n{mark}\n<title>{}</title>\n<desc>{}</desc>\n<style>{STYLE}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n",
            escape(&self.title),
            escape(&self.description),
            mark = super::MARK,
        )
    }
}

impl Panel {
    /// Draws the panel below `top` and returns where it ends.
    fn draw(&self, out: &mut String, mut top: f64) -> f64 {
        if !self.title.is_empty() {
            text(
                out,
                [LEFT, top + 14.0],
                "panel",
                "start",
                &escape(&self.title),
            );
            top += 20.0;
        }
        top = self.legend(out, top) + 6.0;
        let (bottom, right) = (top + PANEL_HEIGHT, WIDTH - RIGHT);
        let points = || self.curves.iter().flat_map(|c| &c.points);
        let wide = self.tiles.iter().flat_map(|t| t.horizontal);
        let high = self.tiles.iter().flat_map(|t| t.vertical);
        let named = self.references.iter().map(|r| r.1);
        let across = Scale::covering(
            points().map(|p| p[0]).chain(wide),
            self.horizontal.logarithmic,
            0.0,
            [LEFT, right],
        );
        let up = Scale::covering(
            points().map(|p| p[1]).chain(high).chain(named),
            self.vertical.logarithmic,
            if self.tiles.is_empty() { 0.05 } else { 0.0 },
            [bottom, top],
        );
        self.axes(out, &across, &up, [top, bottom]);
        for tile in &self.tiles {
            tile.draw(out, &across, &up);
        }
        for (name, value) in &self.references {
            if let Some(y) = up.place(*value) {
                let _ = writeln!(
                    out,
                    "<path class=\"reference\" d=\"M{LEFT:.1} {y:.1}H{right:.1}\"/>"
                );
                text(out, [right - 4.0, y - 4.0], "", "end", &escape(name));
            }
        }
        for curve in &self.curves {
            curve.draw(out, &across, &up);
        }
        bottom + 52.0
    }

    /// Names of the curves in rows; returns where they end.
    fn legend(&self, out: &mut String, top: f64) -> f64 {
        let (mut x, mut y) = (LEFT, top + 12.0);
        let mut any = false;
        for curve in self.curves.iter().filter(|c| !c.label.is_empty()) {
            let width = 40.0 + CHARACTER * FONT * curve.label.chars().count() as f64;
            if any && x + width > WIDTH - RIGHT {
                (x, y) = (LEFT, y + 18.0);
            }
            curve.sample(out, [x, y - 4.5]);
            text(out, [x + 30.0, y], "", "start", &escape(&curve.label));
            x += width + 8.0;
            any = true;
        }
        if any { y + 4.0 } else { top }
    }

    fn axes(&self, out: &mut String, across: &Scale, up: &Scale, [top, bottom]: [f64; 2]) {
        let right = WIDTH - RIGHT;
        let (marks, x_power) = across.ticks(8);
        for Tick {
            place,
            text: t,
            power,
        } in marks
        {
            let _ = writeln!(
                out,
                "<path class=\"grid\" d=\"M{place:.1} {top:.1}V{bottom:.1}\"/>"
            );
            text(
                out,
                [place, bottom + 18.0],
                "",
                "middle",
                &number(&t, power),
            );
        }
        let (marks, y_power) = up.ticks(6);
        for Tick {
            place,
            text: t,
            power,
        } in marks
        {
            let _ = writeln!(
                out,
                "<path class=\"grid\" d=\"M{LEFT:.1} {place:.1}H{right:.1}\"/>"
            );
            text(
                out,
                [LEFT - 8.0, place + 4.5],
                "",
                "end",
                &number(&t, power),
            );
        }
        let _ = writeln!(
            out,
            "<path class=\"axis\" d=\"M{LEFT:.1} {top:.1}V{bottom:.1}H{right:.1}\"/>"
        );
        let middle = f64::midpoint(LEFT, right);
        text(
            out,
            [middle, bottom + 38.0],
            "",
            "middle",
            &with_power(&self.horizontal.label, x_power),
        );
        let _ = writeln!(
            out,
            "<text transform=\"translate(20 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            f64::midpoint(top, bottom),
            with_power(&self.vertical.label, y_power)
        );
    }
}

impl Stroke {
    /// What stands at a point; none of lines.
    fn mark(self, [x, y]: [f64; 2]) -> Option<String> {
        match self {
            Self::Circles => Some(format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>")),
            Self::Crosses => {
                let (left, top) = (x - 4.0, y - 4.0);
                Some(format!("<path d=\"M{left:.1} {top:.1}l8 8m0 -8l-8 8\"/>"))
            }
            Self::Dots => Some(format!("<path d=\"M{x:.1} {y:.1}h0\"/>")),
            Self::Solid | Self::Dashed | Self::Broad => None,
        }
    }
}

impl Curve {
    fn stroke_attributes(&self) -> String {
        let colour = COLOURS[self.colour % COLOURS.len()];
        let dash = match self.stroke {
            Stroke::Dashed => DASHES[1],
            Stroke::Solid => DASHES[(self.colour / COLOURS.len()) % DASHES.len()],
            Stroke::Broad | Stroke::Circles | Stroke::Crosses | Stroke::Dots => "",
        };
        let class = match self.stroke {
            Stroke::Solid | Stroke::Dashed => "line",
            Stroke::Broad => "broad",
            Stroke::Circles => "circle",
            Stroke::Crosses => "cross",
            Stroke::Dots => "dot",
        };
        let dash = if dash.is_empty() {
            String::new()
        } else {
            format!(" stroke-dasharray=\"{dash}\"")
        };
        format!("class=\"{class}\" stroke=\"{colour}\"{dash}")
    }

    /// A piece of the curve for the legend.
    fn sample(&self, out: &mut String, [x, y]: [f64; 2]) {
        let attributes = self.stroke_attributes();
        let _ = match self.stroke.mark([x + 13.0, y]) {
            Some(mark) => writeln!(out, "<g {attributes}>{mark}</g>"),
            None => writeln!(out, "<path {attributes} d=\"M{x:.1} {y:.1}h25\"/>"),
        };
    }

    fn draw(&self, out: &mut String, across: &Scale, up: &Scale) {
        let attributes = self.stroke_attributes();
        let places = (self.points.iter()).map(|p| Some([across.place(p[0])?, up.place(p[1])?]));
        if self.stroke.mark([0.0; 2]).is_some() {
            let _ = writeln!(out, "<g {attributes}>");
            for mark in places.flatten().filter_map(|place| self.stroke.mark(place)) {
                let _ = writeln!(out, "{mark}");
            }
            out.push_str("</g>\n");
            return;
        }
        let places = thinned(places);
        let mut path = String::new();
        let mut pen_down = false;
        for place in places {
            if let Some([x, y]) = place {
                let _ = write!(path, "{}{x:.1} {y:.1}", if pen_down { 'L' } else { 'M' });
            }
            pen_down = place.is_some();
        }
        let _ = writeln!(out, "<path {attributes} d=\"{path}\"/>");
    }
}

impl Tile {
    fn draw(&self, out: &mut String, across: &Scale, up: &Scale) {
        let ends = |scale: &Scale, ends: [f64; 2]| -> Option<[f64; 2]> {
            let (a, b) = (scale.place(ends[0])?, scale.place(ends[1])?);
            Some([a.min(b), a.max(b)])
        };
        let (Some([x0, x1]), Some([y0, y1])) =
            (ends(across, self.horizontal), ends(up, self.vertical))
        else {
            return;
        };
        let _ = writeln!(
            out,
            "<rect class=\"tile\" x=\"{x0:.1}\" y=\"{y0:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"/>",
            x1 - x0,
            y1 - y0,
            ramp(self.shade)
        );
        let width = CHARACTER * FONT * self.text.chars().count() as f64;
        if !self.text.is_empty() && width < x1 - x0 && y1 - y0 > FONT {
            let ink = if self.shade > 0.55 { "#111" } else { "#fff" };
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" style=\"fill:{ink}\">{}</text>",
                f64::midpoint(x0, x1),
                f64::midpoint(y0, y1) + 4.5,
                escape(&self.text)
            );
        }
    }
}

/// A colour from dark blue (0) to light yellow (1), of growing lightness, hence also in grey.
pub(super) fn ramp(shade: f64) -> String {
    const STOPS: [[f64; 3]; 5] = [
        [0.0, 32.0, 77.0],
        [66.0, 77.0, 108.0],
        [124.0, 123.0, 120.0],
        [188.0, 175.0, 111.0],
        [255.0, 234.0, 70.0],
    ];
    let at = if shade.is_finite() {
        shade.clamp(0.0, 1.0) * 4.0
    } else {
        4.0
    };
    let low = (at as usize).min(3);
    let part = at - low as f64;
    let channel = |c: usize| STOPS[low][c] + part * (STOPS[low + 1][c] - STOPS[low][c]);
    format!(
        "#{:02x}{:02x}{:02x}",
        channel(0).round() as u8,
        channel(1).round() as u8,
        channel(2).round() as u8
    )
}

/// At most first, lowest, highest and last of the points within each half pixel across.
fn thinned(points: impl Iterator<Item = Option<[f64; 2]>>) -> Vec<Option<[f64; 2]>> {
    let mut out: Vec<Option<[f64; 2]>> = Vec::new();
    let mut run: Vec<[f64; 2]> = Vec::new();
    let column = |p: &[f64; 2]| (2.0 * p[0]).floor();
    let flush = |run: &mut Vec<[f64; 2]>, out: &mut Vec<Option<[f64; 2]>>| {
        if run.len() > 4 {
            let extreme = |sign: f64| {
                (1..run.len() - 1)
                    .max_by(|&a, &b| (sign * run[a][1]).total_cmp(&(sign * run[b][1])))
                    .unwrap_or(0)
            };
            let mut kept = [0, extreme(-1.0), extreme(1.0), run.len() - 1];
            kept.sort_unstable();
            out.extend(kept.map(|i| Some(run[i])));
        } else {
            out.extend(run.iter().copied().map(Some));
        }
        run.clear();
    };
    for point in points {
        match point {
            Some(p) => {
                if run.first().is_some_and(|first| column(first) != column(&p)) {
                    flush(&mut run, &mut out);
                }
                run.push(p);
            }
            None => {
                flush(&mut run, &mut out);
                out.push(None);
            }
        }
    }
    flush(&mut run, &mut out);
    out
}

fn text(out: &mut String, [x, y]: [f64; 2], class: &str, anchor: &str, content: &str) {
    let class = if class.is_empty() {
        String::new()
    } else {
        format!(" class=\"{class}\"")
    };
    let _ = writeln!(
        out,
        "<text{class} x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{content}</text>"
    );
}

fn number(text: &str, power: bool) -> String {
    if power {
        format!("10<tspan dy=\"-5\" style=\"font-size:10px\">{text}</tspan>")
    } else {
        text.to_owned()
    }
}

/// A label with the power of ten in which the ticks are given.
fn with_power(label: &str, exponent: i32) -> String {
    let label = escape(label);
    if exponent == 0 {
        return label;
    }
    let exponent = exponent.to_string().replace('-', "\u{2212}");
    format!("{label} × 10<tspan dy=\"-5\" style=\"font-size:10px\">{exponent}</tspan>")
}

/// Text between tags.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<[f64; 2]>, stroke: Stroke) -> String {
        let curve = Curve {
            label: "a < b".into(),
            points,
            stroke,
            colour: 0,
        };
        let panel = Panel {
            title: "panel".into(),
            horizontal: Axis {
                label: "time [s]".into(),
                ..Axis::default()
            },
            vertical: Axis {
                label: "torque [N m]".into(),
                ..Axis::default()
            },
            curves: vec![curve],
            ..Panel::default()
        };
        Chart {
            title: "title".into(),
            description: "what it shows".into(),
            panels: vec![panel.clone(), panel],
        }
        .to_svg()
    }

    #[test]
    fn holds_axes_legend_and_both_panels() {
        let svg = chart(vec![[0.0, 1.0], [1.0, 2.0]], Stroke::Solid);
        for part in ["time [s]", "torque [N m]", "a &lt; b", "what it shows"] {
            assert!(svg.contains(part), "{part} is missing");
        }
        assert_eq!(svg.matches("class=\"axis\"").count(), 2);
        assert!(!svg.contains("NaN"));
    }

    #[test]
    fn values_that_are_not_finite_interrupt_the_curve() {
        let svg = chart(
            vec![
                [0.0, 1.0],
                [1.0, 2.0],
                [2.0, f64::NAN],
                [3.0, 1.0],
                [4.0, 2.0],
            ],
            Stroke::Solid,
        );
        let path = svg.lines().rfind(|l| l.contains("class=\"line\"")).unwrap();
        let d = path.split("d=\"").nth(1).unwrap();
        assert_eq!(d.matches('M').count(), 2, "{path}");
    }

    #[test]
    fn long_curves_stay_small_and_keep_their_peaks() {
        let mut points: Vec<[f64; 2]> = (0..200_000)
            .map(|i| [f64::from(i) * 1e-5, (f64::from(i) * 0.01).sin()])
            .collect();
        points[123_456][1] = 7.0;
        let places: Vec<_> = thinned(points.iter().map(|p| Some([p[0] * 300.0, p[1]])));
        assert!(places.len() < 5000, "{}", places.len());
        assert!(places.iter().flatten().any(|p| p[1] == 7.0));
    }

    #[test]
    fn the_ramp_grows_lighter() {
        let lightness = |shade: f64| {
            let hex = ramp(shade);
            let channel = |i: usize| f64::from(u8::from_str_radix(&hex[i..i + 2], 16).unwrap());
            0.299 * channel(1) + 0.587 * channel(3) + 0.114 * channel(5)
        };
        let steps: Vec<f64> = (0..=20).map(|i| lightness(f64::from(i) / 20.0)).collect();
        assert!(steps.windows(2).all(|w| w[1] > w[0]), "{steps:?}");
    }

    #[test]
    fn circles_are_drawn_at_the_points() {
        let svg = chart(vec![[0.0, 1.0], [1.0, 2.0]], Stroke::Circles);
        // Two in the legends.
        assert_eq!(svg.matches("<circle cx").count(), 6);
    }

    #[test]
    fn marks_that_lie_on_one_another_are_all_drawn() {
        let column: Vec<[f64; 2]> = (0..40).map(|k| [1.0, f64::from(k)]).collect();
        let svg = chart(column.clone(), Stroke::Crosses);
        assert_eq!(svg.matches("l8 8m0 -8l-8 8").count(), 2 * 41);
        let svg = chart(column, Stroke::Dots);
        assert_eq!(svg.matches("h0\"/>").count(), 2 * 41);
    }
}
