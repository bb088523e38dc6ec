//! A model for CasADi and acados: external functions in C on top of the generated model, and a Python file that builds the
//! same equations as expressions.

use crate::code::{self, ALONG, SourceFiles, c_values, render};
use crate::{ExportOptions, WriteError, json};
use minijinja::{Value, context};
use reducer::reduced_model::ReducedModel;

const TEMPLATES: &[(&str, &str)] = &[
    ALONG,
    ("casadi.c", include_str!("../templates/casadi/casadi.c.j2")),
    ("acados.h", include_str!("../templates/casadi/acados.h.j2")),
    ("model.py", include_str!("../templates/casadi/model.py.j2")),
    (
        "README.md",
        include_str!("../templates/casadi/README.md.j2"),
    ),
];

/// An argument or a result of a function: a dense matrix.
#[derive(Clone)]
struct Argument {
    name: &'static str,
    rows: usize,
    columns: usize,
}

/// A function of the model.
struct Function {
    name: &'static str,
    inputs: Vec<Argument>,
    outputs: Vec<Argument>,
}

fn vector(name: &'static str, rows: usize) -> Argument {
    Argument {
        name,
        rows,
        columns: 1,
    }
}

fn functions(n: usize, outputs: usize) -> Vec<Function> {
    let points = |name, rows| Argument {
        name,
        rows,
        columns: outputs,
    };
    let mut list = vec![
        Function {
            name: "inverse_dynamics",
            inputs: vec![vector("eta", n), vector("rate", n), vector("accel", n)],
            outputs: vec![vector("force", n)],
        },
        Function {
            name: "forward_dynamics",
            inputs: vec![vector("eta", n), vector("rate", n), vector("force", n)],
            outputs: vec![vector("accel", n)],
        },
        Function {
            name: "step",
            inputs: vec![vector("x", 2 * n), vector("force", n), vector("dt", 1)],
            outputs: vec![vector("next", 2 * n)],
        },
    ];
    if outputs > 0 {
        list.push(Function {
            name: "outputs",
            inputs: vec![vector("eta", n), vector("rate", n)],
            outputs: vec![
                points("position", 3),
                points("rotation", 9),
                points("velocity", 3),
                points("angular_velocity", 3),
            ],
        });
    }
    list
}

impl Argument {
    fn size(&self) -> usize {
        self.rows * self.columns
    }

    /// Under another name, dense, or without entries as CasADi passes results that nobody needs.
    fn shown(&self, start: &str, dense: bool) -> Value {
        context! {
            name => format!("{start}{}", self.name),
            rows => self.rows,
            columns => self.columns,
            dense => usize::from(dense),
        }
    }
}

impl Function {
    fn known(&self) -> usize {
        self.inputs.iter().map(Argument::size).sum()
    }

    fn results(&self) -> usize {
        self.outputs.iter().map(Argument::size).sum()
    }

    fn facts(&self) -> Value {
        let sizes = |list: &[Argument]| -> String {
            let texts: Vec<String> = list.iter().map(|a| a.size().to_string()).collect();
            texts.join(", ")
        };
        let names = |list: &[Argument]| -> String {
            let texts: Vec<&str> = list.iter().map(|a| a.name).collect();
            texts.join(", ")
        };
        context! {
            name => self.name,
            line => format!("{}({}) -> {}", self.name, names(&self.inputs), names(&self.outputs)),
            n_in => self.inputs.len(),
            n_out => self.outputs.len(),
            sizes_in => sizes(&self.inputs),
            sizes_out => sizes(&self.outputs),
            known => self.known(),
            results => self.results(),
        }
    }

    /// The function and its derivatives as CasADi finds them by name.
    fn interfaces(&self) -> Vec<Value> {
        let shown = |list: &[Argument], start: &str, dense| -> Vec<Value> {
            list.iter().map(|a| a.shown(start, dense)).collect()
        };
        let given = shown(&self.inputs, "", true);
        let behind = [given.clone(), shown(&self.outputs, "out_", false)].concat();
        let with = |seeds: Vec<Value>| [behind.clone(), seeds].concat();
        let blocks = self.outputs.iter().flat_map(|o| {
            self.inputs.iter().map(move |i| {
                context! {
                    name => format!("jac_{}_{}", o.name, i.name),
                    rows => o.size(),
                    columns => i.size(),
                    dense => 1,
                }
            })
        });
        let (known, results) = (self.known(), self.results());
        let rows = known * (results + 1);
        let one = |start: &str, how, inputs: Vec<Value>, outputs: Vec<Value>, work| {
            context! {
                symbol => format!("{start}@_casadi_{}", self.name),
                function => self.name,
                how,
                inputs,
                outputs,
                work,
            }
        };
        let plain = shown(&self.outputs, "", true);
        let forward = (
            shown(&self.inputs, "fwd_", true),
            shown(&self.outputs, "fwd_", true),
        );
        let adjoint = (
            shown(&self.outputs, "adj_", true),
            shown(&self.inputs, "adj_", true),
        );
        let both = rows + known + results;
        vec![
            one("", "value", given.clone(), plain, known + results),
            one("jac_", "jacobian", behind.clone(), blocks.collect(), rows),
            one("fwd1_", "forward", with(forward.0), forward.1, both),
            one("adj1_", "adjoint", with(adjoint.0), adjoint.1, both),
        ]
    }
}

/// The folder for CasADi: external functions and the generated C that they include, expressions in Python, the model
/// that these read, README.
pub fn casadi_files(
    model: &ReducedModel,
    options: &ExportOptions,
) -> Result<SourceFiles, WriteError> {
    if options.single {
        return Err(WriteError::NotSource {
            option: "single precision",
            format: "casadi",
        });
    }
    let (prefix, shared, _) = c_values(model, options)?;
    let outputs = model.layout.outputs.len();
    let list = functions(model.layout.n(), outputs);
    let facts = context! {
        functions => list.iter().map(Function::facts).collect::<Vec<_>>(),
        interfaces => list.iter().flat_map(Function::interfaces).collect::<Vec<_>>(),
        most => 4,
        // Rows, columns and the start of every column of a matrix without entries.
        pattern => (outputs + 3).max(4),
        format => model.format,
        combined => !model.components.combined.is_empty(),
        ..shared
    };
    let print = |template| render(TEMPLATES, template, &facts, &prefix);
    let mut files = vec![
        (format!("{prefix}_casadi.c"), print("casadi.c")?),
        (format!("{prefix}_model.py"), print("model.py")?),
        ("README.md".to_owned(), print("README.md")?),
        ("model.json".to_owned(), json::to_bytes(model)?),
    ];
    let needed = [".c", ".h", "_tables.h"].map(|ending| format!("{prefix}{ending}"));
    let source = code::c_files(model, options)?.into_iter();
    files.extend(source.filter(|(name, _)| needed.contains(name)));
    Ok(files)
}
