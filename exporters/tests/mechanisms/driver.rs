//! C programs that call every generated function.

use crate::contracts::{LookUp, named};
use reducer::reduced_model::{ModelForm, ReducedModel, Stiffening};

/// Calls of every function; `p` are parameters or NULL, `x`, `a`, `b` and `c` arguments.
pub fn calls(model: &ReducedModel) -> Vec<&'static str> {
    let mut calls = vec![
        "@_coefficients_p(p, x, &coefficients)",
        "@_inverse_dynamics_p(p, x, a, b, force)",
        "@_forward_dynamics_p(p, x, a, b, force)",
        "@_state_derivative_p(p, x, a, dx)",
        "@_linearize_p(p, x, a, b, A, B, C, D)",
        "@_feedforward_p(p, x, a, b, force, modal)",
        "@_step_p(p, x, a, dt)",
    ];
    if !model.layout.outputs.is_empty() {
        calls.push("@_outputs_p(p, x, a, &outputs)");
    }
    calls
}

/// Room for arguments and results; arrays of no element get one.
fn variables(model: &ReducedModel) -> String {
    let mut text = String::from(
        "    static @_params_t params;
    static @_coefficients_t coefficients;
    static @_real x[2 * @@_N], a[@@_N], b[@@_N], force[@@_N], dx[2 * @@_N];
    static @_real modal[@@_N_MODAL + 1], A[4 * @@_N * @@_N], B[2 * @@_N * @@_N];
    static @_real C[(@@_N_Y * 2 * @@_N) + 1], D[(@@_N_Y * @@_N) + 1];
    @_real dt;
",
    );
    if !model.layout.outputs.is_empty() {
        text += "    static @_outputs_t outputs;\n";
    }
    text
}

/// Members of the parameters and their lengths.
fn parameters(model: &ReducedModel) -> Vec<(&'static str, &'static str)> {
    let mut list = vec![
        ("rotor_inertia", "@@_N_RIGID"),
        ("viscous", "@@_N_RIGID"),
        ("coulomb", "@@_N_RIGID"),
        ("coulomb_rate", "@@_N_RIGID"),
    ];
    if !model.layout.outputs.is_empty() {
        list.extend([("payload_mass", "@@_N_OUTPUTS"), ("gravity", "3")]);
    }
    list
}

/// Any number, and arrays of them.
const ANY: &str = "extern volatile @_real any_real;
extern volatile int any_int;
static void any(@_real x[], int n)
{
    /*# loop unroll 1000000; */
    for (int i = 0; i < n; ++i) { x[i] = any_real; }
}
";

/// For the analyser: every look-up in every box, all else any number; `written`: it is asserted that
/// results are written.
pub fn look_up_everywhere(model: &ReducedModel, look_ups: &[&LookUp], written: bool) -> String {
    let mut text = format!("#include \"@.c\"\n{ANY}");
    let mut calls = String::new();
    for of in look_ups {
        let (function, arguments, result) = (of.function, of.arguments, of.result);
        let is_written = if written { of.written } else { "\\true" };
        text += &format!(
            "static void look_up_{function}(int box)
{{
    @_place place[1];
    @_real direction[@@_N_RIGID], *rate = direction;
    int column = any_int;
    {result};
    place->box = box;
    any(place->theta, @@_N_RIGID);
    any(direction, @@_N_RIGID);
    if ((column >= 0) && (column < @@_N_RIGID)) {{
        @_{function}({arguments});
        /*# assert {is_written}; */
    }}
}}
"
        );
        calls += &format!("        look_up_{function}(box);\n");
    }
    text += &format!(
        "int main(void)
{{
    /*# loop unroll 1000000; */
    for (int box = 0; box < (int)(sizeof(@_boxes) / sizeof(@_boxes[0])); ++box) {{
{calls}    }}
    return 0;
}}
"
    );
    named(&model.layout.name, &text)
}

/// For the analyser: every function once, each argument any number, NaN and infinities included.
pub fn arbitrary(model: &ReducedModel) -> String {
    let mut text = format!("#include <stddef.h>\n#include \"@.h\"\n{ANY}int main(void)\n{{\n");
    text += &variables(model);
    for (member, length) in parameters(model) {
        text += &format!("    any(params.{member}, {length});\n");
    }
    text += "    any(x, 2 * @@_N); any(a, @@_N); any(b, @@_N); dt = any_real;
    const @_params_t *p = any_int ? &params : NULL;
    switch (any_int) {\n";
    for (i, call) in calls(model).iter().enumerate() {
        text += &format!("    case {i}: return {call};\n");
    }
    named(
        &model.layout.name,
        &(text + "    default: return 0;\n    }\n}\n"),
    )
}

/// Includes, numbers that are hard, and what is checked of results.
const PRELUDE: &str = "#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include \"@.h\"
int @_selftest(void);
static const @_real lower[] = @@_THETA_MIN, upper[] = @@_THETA_MAX;
static const @_real odd[] = { 0, 1, -1, (@_real)NAN, (@_real)INFINITY, -(@_real)INFINITY, HUGE_REAL,
    -HUGE_REAL, TINY_REAL, (@_real)1e9, -(@_real)1e9, (@_real)1e19, (@_real)3e38, (@_real)1e-30 };
enum { ODD = sizeof(odd) / sizeof(odd[0]), PLACES = (@@_N_RIGID > 3) ? 2 : 6, STATUSES = 5 };
static int settled(int status, const @_real x[], int n)
{
    int good = (status >= 0) && (status <= WORST);
    for (int i = 0; i < n; ++i) {
        good = good && (x[i] - x[i] == 0) && ((status < 2) || (x[i] == 0));
    }
    return good;
}
#define SETTLED(array) settled(status, (const @_real *)(array), (int)(sizeof(array) / sizeof(@_real)))
";

/// The largest status that a model knows: only scaled rates can be bent too far.
fn prelude(model: &ReducedModel) -> String {
    let stored = model.layout.stiffening == Stiffening::All;
    let scaled = stored && model.form == ModelForm::Lagrangian;
    let worst = if scaled { "@@_BENT" } else { "@@_NOT_FINITE" };
    format!("#define WORST {worst}\n{PRELUDE}")
}

/// The name of the function of a call, and the condition that its results are settled.
fn settled(call: &str) -> (&str, String) {
    let function = call.split('(').next().unwrap_or_default();
    let results: &[&str] = match function {
        "@_coefficients_p" => &[
            "coefficients.mass",
            "coefficients.gyroscopic",
            "coefficients.force",
        ],
        "@_state_derivative_p" => &["dx"],
        "@_linearize_p" => &["A", "B"],
        "@_feedforward_p" => &["modal"],
        "@_step_p" => &["x"],
        "@_outputs_p" => &["outputs.output[0].position", "outputs.output[0].jacobian"],
        _ => &["force"],
    };
    let checks: Vec<String> = results.iter().map(|r| format!("SETTLED({r})")).collect();
    (function, checks.join(" && "))
}

/// For sanitizers: every function at faces, corners, outside, with numbers at the ends of their
/// range and with what is not a number; results are finite, and zero from status 2 on.
pub fn extremes(model: &ReducedModel) -> String {
    let mut text = prelude(model)
        + "/* Lower, middle, upper, beyond; by the digits of a number. */
static @_real theta_at(int place, int k)
{
    static const @_real part[] = { 0, (@_real)0.5, 1, (@_real)1.25, (@_real)-7, (@_real)0.3 };
    return lower[k] + (part[(place + (k * (place / 3))) % 6] * (upper[k] - lower[k]));
}
int main(void)
{
";
    text += &variables(model);
    text += "    int bad = 0;
    for (int place = 0; place < PLACES; ++place) {
        for (int o = 0; o < ODD; ++o) {
            /* The odd number in each argument in turn, in all, and in none; parameters or NULL. */
            for (int where = 0; where < 14; ++where) {
                const @_params_t *p = (where % 2) ? &params : NULL;
                const int which = where / 2;
                const @_real v = odd[o];
                int status = 0;
#define FILL(array, n, number) for (int i = 0; i < (n); ++i) { (array)[i] = ((which == (number)) || (which == 5)) ? v : (@_real)0.1; }
#define STATE() FILL(x, 2 * @@_N, 6) FILL(a, @@_N, 1) FILL(b, @@_N, 2) \\
                for (int k = 0; k < @@_N_RIGID; ++k) { if (which != 5) { x[k] = theta_at(place, k); } } \\
                if (which == 0) { x[place % @@_N] = v; } \\
                dt = ((which == 3) || (which == 5)) ? v : (@_real)1e-6;
";
    for (member, length) in parameters(model) {
        text += &format!("                FILL(params.{member}, {length}, 4)\n");
    }
    for call in calls(model) {
        let (function, settled) = settled(call);
        text += &format!(
            "                STATE()
                status = {call};
                if (!({settled})) {{ ++bad; printf(\"{function}: place %d, number %d, where %d, status %d\\n\", place, o, where, status); }}\n",
        );
    }
    text += "            }\n        }\n    }\n    return (bad == 0) ? @_selftest() : 1000;\n}\n";
    named(&model.layout.name, &text)
}

/// For sanitizers: as many calls as the first argument says, at random states in and around the domain,
/// one in a hundred with a number that is hard; what takes long comes less often.
pub fn random_calls(model: &ReducedModel) -> String {
    let calls = calls(model);
    let mut text = prelude(model)
        + "static unsigned long long bits = 88172645463325252ULL;
static @_real between(@_real low, @_real high)
{
    bits ^= bits << 13;
    bits ^= bits >> 7;
    bits ^= bits << 17;
    return low + ((@_real)((double)(bits >> 11) / 9007199254740992.0) * (high - low));
}
static void fill(@_real x[], int n, @_real size)
{
    for (int i = 0; i < n; ++i) {
        x[i] = between(-size, size);
    }
    if (between(0, 1) < (@_real)0.01) {
        x[(int)between(0, (@_real)n - (@_real)0.5)] = odd[(int)between(0, (@_real)ODD - (@_real)0.5)];
    }
}
int main(int argc, char **argv)
{
    const long calls = (argc > 1) ? atol(argv[1]) : 0;
    long bad = 0, seen[STATUSES] = { 0 };
";
    text += &variables(model);
    text += "    for (long call = 0; call < calls; ++call) {
        const @_params_t *p = (call % 2) ? &params : NULL;
        int status = 0, good = 1;
        fill(x, 2 * @@_N, (@_real)0.01);
        for (int k = 0; k < @@_N_RIGID; ++k) {
            x[k] += lower[k] + (between((@_real)-0.02, (@_real)1.02) * (upper[k] - lower[k]));
        }
        fill(a, @@_N, 10);
        fill(b, @@_N, 10);
        dt = between(0, (@_real)1e-4);
";
    for (member, length) in parameters(model) {
        text += &format!("        fill(params.{member}, {length}, (@_real)0.1);\n");
    }
    text += &format!("        int which = (int)(call % {});\n", calls.len());
    let function = |call: &str| settled(call).0.to_owned();
    // So many calls, of which eight are kept.
    for (long, calls_each) in [
        ("@_coefficients_p", 4096),
        ("@_linearize_p", 4096),
        ("@_feedforward_p", 64),
        ("@_step_p", 64),
    ] {
        let place = calls.iter().position(|call| function(call) == long);
        let place = place.expect("a function of every model");
        text += &format!(
            "        if ((which == {place}) && (call % {calls_each} >= 8)) {{ which = 1; }}\n"
        );
    }
    text += "        switch (which) {\n";
    for (i, call) in calls.iter().enumerate() {
        let check = settled(call).1;
        text += &format!("        case {i}: status = {call}; good = {check}; break;\n");
    }
    text += "        default: break;
        }
        if (!good) { ++bad; printf(\"call %ld: function %d, status %d\\n\", call, which, status); }
        ++seen[(status >= 0) && (status < STATUSES) ? status : STATUSES - 1];
    }
    printf(\"%ld calls, by status: %ld %ld %ld %ld %ld\\n\", calls, seen[0], seen[1], seen[2], seen[3], seen[4]);
    return ((bad == 0) && (seen[0] > calls / 2)) ? 0 : 1;
}
";
    named(&model.layout.name, &text)
}
