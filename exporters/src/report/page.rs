//! The page: text, tables and the scripts that draw the rest.

use super::data::degree;
use super::domain;
use crate::code::code_figures;
use crate::{WriteError, model_hash};
use minijinja::{AutoEscape, Environment, Value, context};
use reducer::reduced_model::{
    BlockError, Continuity, CoordinateKind, LargestError, ModelForm, ReducedModel,
};
use reducer::survey::Survey;

const PAGE: &str = include_str!("../../templates/report/page.html.j2");
const STYLE: &str = include_str!("../../templates/report/style.css");
const SCRIPTS: [&str; 10] = [
    include_str!("../../templates/report/data.js"),
    include_str!("../../templates/report/kinematics.js"),
    include_str!("../../templates/report/motion.js"),
    include_str!("../../templates/report/scene.js"),
    include_str!("../../templates/report/viewer.js"),
    include_str!("../../templates/report/charts.js"),
    include_str!("../../templates/report/plots.js"),
    include_str!("../../templates/report/history.js"),
    include_str!("../../templates/report/domain.js"),
    include_str!("../../templates/report/boxes.js"),
];

/// Regions without a model that are told one by one.
const SHOWN: usize = 8;
/// A largest error from which on the headline is no longer good news alone.
const LARGE: f64 = 0.05;
/// Operations per call from which on they are told with a time, and that time's measure: what a
/// microcontroller with a floating-point unit does.
const COSTLY: usize = 100_000;
const OPERATIONS_PER_MILLISECOND: f64 = 1e5;

/// The whole file.
pub(super) fn render(
    model: &ReducedModel,
    survey: Option<&Survey>,
    data: &serde_json::Value,
) -> Result<Vec<u8>, WriteError> {
    let refused = |e: minijinja::Error| WriteError::Template {
        template: "report.html",
        fact: format!("{e:#}"),
    };
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment
        .add_template("report.html", PAGE)
        .map_err(refused)?;
    // In a script element only `</` and `<!--` end or change the text.
    let data = data.to_string().replace('<', "\\u003c");
    let page = context! {
        style => STYLE,
        script => SCRIPTS.concat(),
        data,
        has_full => survey.is_some(),
        scan => survey.and_then(|s| s.scan.as_ref()).map(|scan| domain::facts(model, scan)),
        has_history => survey.is_some_and(|s| !s.history.is_empty()),
        unstressed => survey.map(|s| s.skeleton.without_geometric_stiffness.clone()),
        has_path => survey.is_some_and(|s| !s.path.is_empty()),
        ..facts(model)?
    };
    let template = environment.get_template("report.html").map_err(refused)?;
    Ok(template.render(page).map_err(refused)?.into_bytes())
}

fn facts(model: &ReducedModel) -> Result<Value, WriteError> {
    let layout = &model.layout;
    let provenance = &model.provenance;
    let settings = &provenance.settings;
    let errors: Vec<Value> = provenance
        .errors
        .iter()
        .map(|e| {
            let tolerance = settings.tolerance(e.block);
            context! {
                block => e.block.name(),
                mean => percent(e.mean),
                max => percent(e.max),
                found => provenance.largest_of(e.block).map(|l| percent(l.largest)),
                place => provenance.largest_of(e.block).map(|l| format!("{:.4?}", l.theta)),
                tolerance => tolerance.map(percent),
                share => tolerance.map(|t| (100.0 * settings.judged(e) / t).min(100.0).round()),
                met => settings.allows(e),
            }
        })
        .collect();
    let in_units = |e: &LargestError| {
        context! { text => e.in_words(layout), place => format!("{:.4?}", e.theta) }
    };
    let absolute: Vec<Value> = provenance.absolute().map(in_units).collect();
    let jumps: Vec<Value> = provenance.jumps.iter().map(in_units).collect();
    let figures = code_figures(model).ok();
    let inverse = figures.as_ref().and_then(|f| {
        let found = f.operations.iter().find(|o| o.0 == "inverse_dynamics");
        found.map(|o| o.1 + o.2)
    });
    let list = || provenance.errors.iter();
    let mean = list().max_by(|a, b| a.mean.total_cmp(&b.mean));
    let found = |e: &BlockError| {
        let searched = provenance.largest_of(e.block).map_or(0.0, |l| l.largest);
        (e.block.name(), e.max.max(searched))
    };
    let largest = list().map(found).max_by(|a, b| a.1.total_cmp(&b.1));
    let large = largest.filter(|(_, error)| *error >= LARGE);
    let costly = inverse.filter(|count| *count >= COSTLY);
    let coordinates: Vec<Value> = layout
        .coordinates
        .iter()
        .enumerate()
        .map(|(i, c)| {
            context! {
                name => c.name.clone(),
                kind => kind(c.kind),
                unit => if c.unit == "m*sqrt(kg)" { "m √kg".to_owned() } else { c.unit.clone() },
                range => (i < layout.n_rigid).then(|| {
                    format!("{} … {}", layout.domain.lower[i], layout.domain.upper[i])
                }),
                periodic => layout.domain.periodic.get(i).copied().unwrap_or(false),
            }
        })
        .collect();
    let operations: Option<Vec<Value>> = figures.as_ref().map(|f| {
        f.operations
            .iter()
            .map(|(name, multiplications, additions)| {
                context! {
                    name => name.replace('_', " "),
                    multiplications => grouped(*multiplications),
                    additions => grouped(*additions),
                }
            })
            .collect()
    });
    let missing = model.missing_regions();
    let missing_shown: Vec<Value> = missing
        .iter()
        .take(SHOWN)
        .map(|region| {
            context! {
                lower => format!("{:?}", region.lower),
                upper => format!("{:?}", region.upper),
                reason => region.reason.to_string(),
            }
        })
        .collect();
    Ok(context! {
        name => layout.name.clone(),
        reached => provenance.reached,
        full_dofs => grouped(layout.full_dofs),
        motions => match layout.validity.as_ref().is_some_and(|v| v.is_declared()) {
            true => "what is declared, or 3 ranges/s and 30 ranges/s²",
            false => "3 ranges/s and 30 ranges/s²",
        },
        validity => layout.validity.as_ref().map_or_else(Vec::new, |v| v.in_words(layout)),
        reduced_dofs => layout.n(),
        n_rigid => layout.n_rigid,
        n_boxes => model.boxes.len(),
        certified => model.boxes.iter().filter(|b| b.definite.is_some()).count(),
        short => model.short_boxes().count(),
        unproven => model.boxes.iter().filter(|b| model.lacks_proof(b)).count(),
        missing => missing.len(),
        missing_shown,
        numbers => grouped(model.stored_numbers()),
        numbers_outputs => grouped(model.stored_numbers_outputs()),
        largest_degree => model.boxes.iter().map(|b| degree(&b.dynamics)).max().unwrap_or(0),
        mean_block => mean.map(|e| e.block.name()),
        mean_error => mean.map(|e| percent(e.mean)),
        largest_block => largest.map(|(block, _)| block),
        largest_error => largest.map(|(_, error)| percent(error)),
        large => large.is_some(),
        costly => costly.is_some(),
        doubts => doubts(large, costly),
        errors,
        absolute,
        jumps,
        inverse => inverse.map(grouped),
        operations,
        constant_bytes => figures.as_ref().map(|f| bytes(f.constant_bytes)),
        stack_bytes => figures.as_ref().map(|f| bytes(f.stack_bytes)),
        coordinates,
        form => match model.form {
            ModelForm::Lagrangian => "lagrangian: energies are stored, forces are their derivatives",
            ModelForm::Direct => "direct: every block is stored by itself",
        },
        continuity => match model.continuity {
            Continuity::Smooth => "smooth (one box)".to_owned(),
            Continuity::Continuous => "continuous across boxes".to_owned(),
            Continuity::Differentiable => "continuous across boxes with all slopes".to_owned(),
            Continuity::Jumps { largest } => format!(
                "jumps across faces of boxes of at most {} of a component's root mean square",
                percent(largest)
            ),
        },
        basis => settings.basis.to_string(),
        criterion => settings.criterion.name(),
        largest_factor => settings.largest,
        objective => settings.objective.name(),
        minimal_width => settings.minimal_width.clone(),
        inequalities => layout.domain.inequalities.len(),
        tool => provenance.tool.clone(),
        input_hash => provenance.input_hash.clone(),
        model_hash => model_hash(model)?,
    })
}

/// What a reader should know before the good news.
fn doubts(large: Option<(&str, f64)>, costly: Option<usize>) -> Vec<String> {
    let error = large.map(|(block, error)| {
        // The sign stays with its number.
        let most = percent(error).replace(' ', "\u{a0}");
        format!("the largest error found, of {block}, is {most}")
    });
    let cost = costly.map(|count| {
        let milliseconds = count as f64 / OPERATIONS_PER_MILLISECOND;
        format!(
            "one call of inverse dynamics takes {} operations, {milliseconds:.1} ms at 100 million per second",
            grouped(count)
        )
    });
    error.into_iter().chain(cost).collect()
}

fn kind(kind: CoordinateKind) -> &'static str {
    match kind {
        CoordinateKind::Rigid => "actuated",
        CoordinateKind::Constraint => "constraint mode",
        CoordinateKind::Attachment => "attachment mode",
        CoordinateKind::Internal => "internal mode",
    }
}

/// A part as per cent with three significant digits.
fn percent(part: f64) -> String {
    let value = 100.0 * part;
    if value == 0.0 {
        "0 %".to_owned()
    } else if !(1e-3..1e4).contains(&value) {
        format!("{value:.1e} %")
    } else {
        let digits = (2 - value.log10().floor() as i32).max(0) as usize;
        format!("{value:.digits$} %")
    }
}

/// Digits in groups of three, with a narrow space.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

fn bytes(count: usize) -> String {
    if count < 10_000 {
        format!("{} B", grouped(count))
    } else {
        format!("{} kB", grouped(count.div_ceil(1000)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reducer::survey::{DriveKind, JointKind};

    /// One that it did not know would end the page with an error.
    #[test]
    fn the_drawing_knows_every_joint_and_drive() {
        let kinematics = SCRIPTS[1];
        let cases = |function: &str| -> Vec<String> {
            let (_, body) = kinematics.split_once(function).expect("the function");
            let (body, _) = body
                .split_once("default: throw")
                .expect("an error at the end");
            let cases = body.split("case \"").skip(1);
            cases
                .filter_map(|rest| rest.split_once("\":"))
                .map(|(kind, _)| kind.to_owned())
                .collect()
        };
        let names = |kinds: &[serde_json::Value]| -> Vec<String> {
            let name = |kind: &serde_json::Value| kind.as_str().expect("a name").to_owned();
            kinds.iter().map(name).collect()
        };
        let joints = JointKind::ALL.map(|kind| serde_json::json!(kind));
        assert_eq!(cases("function jointResidual"), names(&joints));
        let drives = DriveKind::ALL.map(|kind| serde_json::json!(kind));
        assert_eq!(cases("function driveValue"), names(&drives));
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!(percent(0.0012345), "0.123 %");
        assert_eq!(percent(0.5), "50.0 %");
        assert_eq!(percent(1e-9), "1.0e-7 %");
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(bytes(9_999), "9\u{202f}999 B");
    }
}
