//! `reduce body`: what the files of a finite-element body hold, so that units and constraints are
//! checked before anything else.

use super::Outcome;
use crate::args::BodyArgs;
use crate::diagnostics::{self, Failure};
use reducer::description::Fault;
use reducer::finite_elements::{
    FeBody, FeError, Interface, MassProperties, Role, SourceFile, Units, read,
};
use serde_json::json;

/// Runs the command.
pub fn run(args: &BodyArgs) -> Result<Outcome, Failure> {
    let mut contents = Vec::new();
    for path in &args.files {
        let bytes = reducer::description::read_large(path)
            .map_err(|kind| Failure::one(Fault { origin: None, kind }))?;
        let name = path.display().to_string();
        let file = SourceFile {
            name: &name,
            bytes: &bytes,
        };
        contents.push((Role::Any, read(file).map_err(failure)?));
    }
    let units = Units {
        length: match args.length.as_str() {
            "mm" => 1e-3,
            "cm" => 1e-2,
            "in" => 0.0254,
            _ => 1.0,
        },
        mass: match args.mass.as_str() {
            "t" => 1e3,
            "g" => 1e-3,
            _ => 1.0,
        },
    };
    let body = FeBody::new(contents, &[], units).map_err(failure)?;
    let facts = Facts::new(&body, usize::from(args.count)).map_err(failure)?;
    let text = if args.json {
        facts.as_json(&body)
    } else {
        facts.as_text(&body)
    };
    diagnostics::print(&text)?;
    Ok(Outcome::Done)
}

fn failure(error: FeError) -> Failure {
    Failure::one(error)
}

/// What is computed of a body.
struct Facts {
    interfaces: Vec<Interface>,
    properties: MassProperties,
    size: [f64; 3],
    residual: [f64; 6],
    free_hz: Vec<f64>,
    held_hz: Option<Vec<f64>>,
}

impl Facts {
    fn new(body: &FeBody, count: usize) -> Result<Self, FeError> {
        let interfaces = body.interfaces();
        let (low, high) = body.bounds();
        let held_hz = if interfaces.is_empty() {
            None
        } else {
            Some(body.held_frequencies_hz(&interfaces, count)?)
        };
        Ok(Self {
            properties: body.mass_properties(),
            size: (high - low).into(),
            residual: body.rigid_residual().motions,
            free_hz: body.free_frequencies_hz(&interfaces, count)?,
            held_hz,
            interfaces,
        })
    }

    fn as_json(&self, body: &FeBody) -> String {
        let MassProperties {
            mass,
            center,
            inertia,
        } = &self.properties;
        let rows: Vec<Vec<f64>> = (0..3)
            .map(|i| inertia.row(i).iter().copied().collect())
            .collect();
        let document = json!({
            "dofs": body.dofs.len(),
            "massless_dofs": body.n_massless(),
            "repeated_entries": body.n_repeated,
            "mass": mass,
            "center_of_mass": [center.x, center.y, center.z],
            "inertia": rows,
            "size": self.size,
            "rigid_motion_residuals": self.residual,
            "interfaces": self.interfaces.iter().map(|i| &i.name).collect::<Vec<_>>(),
            "free_frequencies_hz": self.free_hz,
            "fixed_interface_frequencies_hz": self.held_hz,
        });
        format!("{document:#}\n")
    }

    fn as_text(&self, body: &FeBody) -> String {
        let list = |values: &[f64]| {
            let shown: Vec<String> = values.iter().map(|v| format!("{:.6}", v + 0.0)).collect();
            shown.join(" ")
        };
        let powers = |values: &[f64]| {
            let shown: Vec<String> = values.iter().map(|v| format!("{v:.6e}")).collect();
            shown.join(" ")
        };
        let p = &self.properties;
        // Rounding is not shown as a number.
        let size = self.size.iter().fold(0.0_f64, |m, v| m.max(*v));
        let center: Vec<f64> = (p.center.iter())
            .map(|v| if v.abs() < 1e-9 * size { 0.0 } else { *v })
            .collect();
        let moments = [p.inertia[(0, 0)], p.inertia[(1, 1)], p.inertia[(2, 2)]];
        let largest = self.residual.iter().fold(0.0_f64, |m, v| m.max(*v));
        let names: Vec<&str> = self.interfaces.iter().map(|i| i.name.as_str()).collect();
        let mut lines = vec![
            ("dofs", body.dofs.len().to_string()),
            ("size", format!("{} m", list(&self.size))),
            ("mass", format!("{:.6} kg", p.mass)),
            ("centre", format!("{} m", list(&center))),
            (
                "inertia",
                format!("{} kg m², about the centre", powers(&moments)),
            ),
            (
                "rigid motions",
                format!("largest force {largest:.1e} of its largest term"),
            ),
            ("free", format!("{} Hz", list(&self.free_hz))),
        ];
        match &self.held_hz {
            Some(held) => {
                lines.push(("interfaces", names.join(" ")));
                lines.push(("held", format!("{} Hz", list(held))));
            }
            None => lines.push(("interfaces", "none that the files tell of".to_owned())),
        }
        if body.n_massless() > 0 {
            lines.push(("massless", format!("{} dofs", body.n_massless())));
        }
        if body.n_repeated > 0 {
            lines.push(("repeated", format!("{} entries, added", body.n_repeated)));
        }
        let mut text = String::new();
        for (what, value) in lines {
            text.push_str(&format!("{what:<15}{value}\n"));
        }
        text
    }
}
