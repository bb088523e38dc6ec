//! Contracts of the functions that look up tables, and loops that the analyser is to follow step by
//! step: annotations of ACSL, which are comments to compilers.

/// A function that looks up tables at a configuration. `@` is the name of the model.
pub struct LookUp {
    /// Its name without that of the model.
    pub function: &'static str,
    /// Arguments, by the names of its parameters.
    pub arguments: &'static str,
    /// What it asks for beside a configuration with a box.
    requires: &'static str,
    /// Room for what it writes.
    pub result: &'static str,
    /// What it writes, wholly.
    assigns: &'static str,
    /// That it has written it.
    pub written: &'static str,
}

const DIRECTION: &str = "requires \\initialized(&direction[0 .. @@_N_RIGID - 1]);";

const LOOK_UPS: [LookUp; 6] = [
    LookUp {
        function: "dynamics_at",
        arguments: "place, f",
        requires: "",
        result: "@_dynamics_fields f[1]",
        assigns: "*f",
        written: "\\initialized(&f[0])",
    },
    LookUp {
        function: "dynamics_rate_at",
        arguments: "place, direction, f",
        requires: DIRECTION,
        result: "@_dynamics_fields f[1]",
        assigns: "*f",
        written: "\\initialized(&f[0])",
    },
    LookUp {
        function: "dynamics_bend_at",
        arguments: "place, second",
        requires: "",
        result: "@_real second[@@_DYNAMICS_CURVATURES]",
        assigns: "second[0 .. @@_DYNAMICS_CURVATURES - 1]",
        written: "\\initialized(&second[0 .. @@_DYNAMICS_CURVATURES - 1])",
    },
    LookUp {
        function: "motion_at",
        arguments: "place, f",
        requires: "",
        result: "@_motion_fields f[1]",
        assigns: "*f",
        written: "\\initialized(&f[0])",
    },
    LookUp {
        function: "motion_bend_at",
        arguments: "place, second",
        requires: "",
        result: "@_real second[@@_MOTION_CURVATURES]",
        assigns: "second[0 .. @@_MOTION_CURVATURES - 1]",
        written: "\\initialized(&second[0 .. @@_MOTION_CURVATURES - 1])",
    },
    LookUp {
        function: "motion_bend_slope_at",
        arguments: "place, rate, column, value",
        requires: "requires \\initialized(&rate[0 .. @@_N_RIGID - 1]);
    requires 0 <= column < @@_N_RIGID;",
        result: "@_real value[@@_MOTION_VALUES]",
        assigns: "value[0 .. @@_MOTION_VALUES - 1]",
        written: "\\initialized(&value[0 .. @@_MOTION_VALUES - 1])",
    },
];

/// The look-ups of a model: one without outputs has fewer.
pub fn look_ups(name: &str, source: &str) -> Vec<&'static LookUp> {
    LOOK_UPS
        .iter()
        .filter(|l| source.contains(&format!(" {name}_{}(", l.function)))
        .collect()
}

/// With the names of a model.
pub fn named(name: &str, text: &str) -> String {
    let text = text.replace("@@", &name.to_uppercase()).replace('@', name);
    text.replace("/*#", "/*@")
}

/// What one run of the analyser shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// Look-ups meet no run-time error: rows are followed one by one, all columns are seen at once.
    Reads,
    /// Look-ups write all of their results: columns are followed one by one, all rows are seen at once.
    /// Alarms are of no meaning here, for `Reads` shows that there is no error; it does not say that
    /// results are written, because it does not tell columns apart.
    Writes,
    /// All other functions, given the contracts of the look-ups.
    Interface,
}

/// A contract: for a box of the model and an initialised configuration, results are written.
fn contract(name: &str, of: &LookUp, goal: Goal) -> String {
    let promise = match goal {
        Goal::Interface => format!("ensures {};", of.written),
        // What is to be shown is not assumed.
        Goal::Reads | Goal::Writes => String::new(),
    };
    let text = format!(
        "/*# requires \\valid_read(place) && \\initialized(&place->box);
    requires 0 <= place->box < sizeof(@_boxes) / sizeof(@_boxes[0]);
    requires \\initialized(&place->theta[0 .. @@_N_RIGID - 1]);
    {}
    assigns {} \\from *place;
    {promise} */",
        of.requires, of.assigns
    );
    named(name, &text)
}

/// More iterations than any loop has.
const ALL: u32 = 1_000_000;

/// Iterations of a loop that are kept apart, 0 for none, from its first line.
fn unrolled(function: &str, line: &str, goal: Goal, one_coordinate: bool) -> u32 {
    let over_rows = ["shape->first_run", "run->count", "m < count"]
        .iter()
        .any(|bound| line.contains(bound));
    let inside_rows = line.starts_with("         ") && !over_rows;
    // What is inside loops over rows here adds to numbers that have been set before.
    if function.ends_with("_bend_slope_at") && inside_rows {
        return 0;
    }
    match goal {
        Goal::Reads if line.contains("_GROUPS; ++g") => ALL,
        // With one coordinate there is one run, and results are written in it.
        Goal::Writes if over_rows => u32::from(one_coordinate) * 2,
        _ => ALL,
    }
}

/// A derivative has been written where it is scaled: shown by following columns, taken for granted where
/// columns are not told apart.
fn scaled(line: &str, goal: Goal) -> Option<String> {
    let (derivative, _) = line.trim_start().split_once(" *= w")?;
    match goal {
        Goal::Reads => Some(format!("/*@ admit \\initialized(&{derivative}); */")),
        Goal::Writes => Some(format!("/*@ assert \\initialized(&{derivative}); */")),
        Goal::Interface => None,
    }
}

/// The source with contracts and with loops that are followed step by step.
pub fn annotated(name: &str, source: &str, goal: Goal, one_coordinate: bool) -> String {
    let look_ups = look_ups(name, source);
    let mut function = String::new();
    let mut lines = Vec::new();
    for line in source.lines() {
        let start = line.strip_prefix("static ").unwrap_or(line);
        let opened = ["void ", "int "]
            .iter()
            .find_map(|kind| start.strip_prefix(kind))
            .and_then(|rest| rest.split_once('('));
        if let Some((opened, _)) = opened {
            function = opened.to_owned();
            let of = look_ups
                .iter()
                .find(|l| function == format!("{name}_{}", l.function));
            lines.extend(of.map(|of| contract(name, of, goal)));
        }
        if line.trim_start().starts_with("for (int ") {
            let count = unrolled(&function, line, goal, one_coordinate);
            if count > 0 {
                lines.push(format!("/*@ loop unroll {count}; */"));
            }
        }
        lines.extend(scaled(line, goal));
        lines.push(line.to_owned());
    }
    lines.join("\n") + "\n"
}
