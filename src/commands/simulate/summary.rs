//! What a comparison in time found.

use crate::commands::tables;
use reducer::dynamics::comparison::Difference;
use reducer::dynamics::full::FullReport;
use reducer::dynamics::observer::ObserverStatistics;
use reducer::dynamics::record::Record;
use reducer::dynamics::reduced::{ReducedError, ReducedReport};
use reducer::error::Explain;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// Energy that came from nowhere.
pub struct Balance {
    /// Largest imbalance (J).
    pub imbalance: f64,
    /// Largest energy that moved (J).
    pub exchanged: f64,
}

impl Balance {
    /// Of a whole record.
    pub fn of(record: &Record) -> Self {
        Self {
            imbalance: record.imbalance.iter().fold(0.0, |m, x| x.abs().max(m)),
            exchanged: record.exchanged_energy(),
        }
    }

    fn part(&self) -> f64 {
        if self.exchanged > 0.0 {
            self.imbalance / self.exchanged
        } else {
            0.0
        }
    }

    fn as_json(&self) -> Value {
        json!({
            "imbalance": self.imbalance,
            "exchanged": self.exchanged,
            "relative": self.part(),
        })
    }
}

/// What a comparison in time found.
pub struct Summary {
    /// Name of the scenario.
    pub scenario: String,
    /// Per output and force.
    pub differences: Vec<Difference>,
    /// Energy balance of the full model.
    pub full_energy: Balance,
    /// Energy balance of the reduced model.
    pub reduced_energy: Balance,
    /// What the observer saw of the full and of the reduced model.
    pub observed: [Option<ObserverStatistics>; 2],
    /// Wall time of the full model.
    pub full_seconds: f64,
    /// Wall time of the reduced model.
    pub reduced_seconds: f64,
    /// Wall time of the reduction, where the mechanism was reduced.
    pub reduction_seconds: Option<f64>,
    /// What the full model cost.
    pub full_report: FullReport,
    /// What the reduced model cost, or why it ended early.
    pub reduced_report: Result<ReducedReport, ReducedError>,
    /// Time that the full model reached (s).
    pub reached: f64,
    /// Ctrl-C ended the run.
    pub interrupted: bool,
    /// The reduced model is within the tolerances it was made for.
    pub model_within_tolerance: bool,
}

impl Summary {
    /// Both models ran to the end, and the model keeps its tolerances.
    pub fn is_complete(&self) -> bool {
        self.reduced_report.is_ok() && !self.interrupted && self.model_within_tolerance
    }

    /// Wall time of the full over that of the reduced model; none where one ran longer.
    fn speed_up(&self) -> Option<f64> {
        let comparable = self.reduced_report.is_ok() && self.reduced_seconds > 0.0;
        comparable.then(|| self.full_seconds / self.reduced_seconds)
    }

    /// One JSON document.
    pub fn as_json(&self) -> Value {
        let differences: serde_json::Map<String, Value> = self
            .differences
            .iter()
            .map(|d| {
                let entry = json!({ "peak": d.peak, "unit": d.unit, "max": d.max, "rms": d.rms });
                (d.name.clone(), entry)
            })
            .collect();
        let reduced = match &self.reduced_report {
            Ok(report) => json!({
                "completed": true,
                "seconds": self.reduced_seconds,
                "steps": report.steps,
                "evaluations": report.evaluations,
                "energy": self.reduced_energy.as_json(),
            }),
            Err(error) => json!({
                "completed": false,
                "message": error.to_string(),
                "help": error.help(),
                "seconds": self.reduced_seconds,
                "energy": self.reduced_energy.as_json(),
            }),
        };
        json!({
            "scenario": self.scenario,
            "differences": differences,
            "full": {
                "completed": !self.interrupted,
                "reached": self.reached,
                "seconds": self.full_seconds,
                "steps": self.full_report.steps,
                "newton_iterations": self.full_report.newton_iterations,
                "factorisations": self.full_report.factorisations,
                "rejected_steps": self.full_report.rejected_steps,
                "largest_constraint_residual": self.full_report.largest_constraint_residual,
                "energy": self.full_energy.as_json(),
            },
            "reduced": reduced,
            "observer": self.observer_json(),
            "reduction_seconds": self.reduction_seconds,
            "speed_up": self.speed_up(),
            "model_within_tolerance": self.model_within_tolerance,
            "interrupted": self.interrupted,
        })
    }

    fn observer_json(&self) -> Value {
        let each = self.observed.map(|seen| {
            seen.map(|s| {
                json!({
                    "updates": s.updates,
                    "refused": s.refused,
                    "sensors": s.sensors,
                    "nis": s.nis(),
                    "nis_band": s.nis_band(),
                    "states": s.states,
                    "nees": s.nees(),
                })
            })
        });
        match each {
            [Some(full), Some(reduced)] => json!({ "full": full, "reduced": reduced }),
            _ => Value::Null,
        }
    }

    /// How consistent the observer is.
    fn observer_text(&self) -> String {
        let mut out = String::new();
        for (name, seen) in ["full", "reduced"].iter().zip(&self.observed) {
            let Some(seen) = seen else { continue };
            let (Some(nis), Some([low, high])) = (seen.nis(), seen.nis_band()) else {
                let _ = writeln!(out, "observer, {name}: no update succeeded");
                continue;
            };
            let verdict = if nis > high {
                "readings differ more than declared"
            } else if nis < low {
                "readings differ less than declared"
            } else {
                "as declared"
            };
            let _ = write!(
                out,
                "observer, {name}: NIS {nis:.3} of {} sensors, 95 % between {low:.3} and {high:.3}: {verdict}",
                seen.sensors
            );
            if let Some(nees) = seen.nees() {
                let _ = write!(out, "; NEES {nees:.3} of {} states", seen.states);
            }
            if seen.refused > 0 {
                let _ = write!(out, "; {} samples refused", seen.refused);
            }
            out.push('\n');
        }
        out
    }

    /// For people.
    pub fn as_text(&self, folder: &Path) -> String {
        let mut out = format!("{}: full against reduced model\n", self.scenario);
        let _ = writeln!(
            out,
            "difference, of the peak        max        rms          peak"
        );
        tables::differences(&mut out, &self.differences);
        for (name, energy) in [
            ("full", &self.full_energy),
            ("reduced", &self.reduced_energy),
        ] {
            let _ = writeln!(
                out,
                "energy balance, {name}: {:.2e} J of {:.2e} J exchanged ({:.1e})",
                energy.imbalance,
                energy.exchanged,
                energy.part()
            );
        }
        out += &self.observer_text();
        let ratio = self
            .speed_up()
            .map_or(String::new(), |ratio| format!(": {ratio:.0} times faster"));
        let _ = writeln!(
            out,
            "full {:.3} s ({} steps), reduced {:.4} s{ratio}",
            self.full_seconds, self.full_report.steps, self.reduced_seconds
        );
        if let Some(seconds) = self.reduction_seconds {
            let _ = writeln!(out, "reduction {seconds:.2} s");
        }
        if self.interrupted {
            let _ = writeln!(out, "interrupted at t = {:.6} s", self.reached);
        }
        if let Err(error) = &self.reduced_report {
            let _ = writeln!(out, "{error}");
            if let Some(help) = error.help() {
                let _ = writeln!(out, "  help: {help}");
            }
        }
        if !self.model_within_tolerance {
            let _ = writeln!(out, "the reduced model does not keep all its tolerances");
        }
        let _ = writeln!(out, "written to {}", folder.display());
        out
    }
}
