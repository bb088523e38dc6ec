"""Looks at a folder of `reduce export --format casadi`: FOLDER PREFIX POINTS.

POINTS holds states with what the evaluator or the command line says about them. External functions and expressions are
compared with these, with each other, and first derivatives with those that CasADi derives from the expressions.
"""

import json
import subprocess
import sys

import casadi as ca
import numpy as np

VALUE = 1e-12
SLOPE = 1e-10
folder, prefix, points = sys.argv[1:4]
sys.path.insert(0, folder)
Model = __import__(f"{prefix}_model").Model
library = f"{folder}/{prefix}_casadi.so"
flags = "-std=c99 -Wall -Wextra -Werror -O1 -fPIC -shared -fvisibility=hidden -ffp-contract=off".split()
subprocess.run(["cc", *flags, f"{folder}/{prefix}_casadi.c", "-lm", "-o", library], check=True)

model = Model()
n, s = model.n, model.n_rigid
found = {}


def compare(what, ours, expected, tolerance, scale=None):
    ours, expected = np.array(ours, dtype=float).ravel(), np.array(expected, dtype=float).ravel()
    scale = max(np.abs(expected if scale is None else scale).max(initial=0.0), 1e-300)
    error = np.abs(ours - expected).max(initial=0.0) / scale
    found[what] = max(found.get(what, 0.0), error)
    if not error <= tolerance:
        sys.exit(f"{prefix}: {what} differs by {error:.2e} of {scale:.3e}\n{ours}\n{expected}")


def external(name):
    return ca.external(f"{prefix}_casadi_{name}", library)


def derived(f):
    """Jacobian of an expression as one function of all arguments."""
    names = [ca.MX.sym(f.name_in(i), *f.size_in(i)) for i in range(f.n_in())]
    results = f(*names)
    results = results if isinstance(results, (tuple, list)) else [results]
    stacked = ca.vertcat(*(ca.vec(r) for r in results))
    return ca.Function("d", names, [ca.densify(ca.jacobian(stacked, ca.vertcat(*(ca.vec(x) for x in names))))])


def blocks(f, arguments):
    """The same from `jac_` of an external function, block by block."""
    arguments = [ca.DM(a) for a in arguments]
    made = f.jacobian()(*arguments, *(ca.DM(*f.size_out(i)) for i in range(f.n_out())))
    made = [np.array(b) for b in (made if isinstance(made, (tuple, list)) else [made])]
    rows = [np.hstack(made[o * f.n_in() : (o + 1) * f.n_in()]) for o in range(f.n_out())]
    return np.vstack(rows)


def compare_blocks(name, ours, expected):
    """Every result by every argument, in its own scale; what should vanish, in that of the whole."""
    f, whole, row = externals[name], np.abs(expected).max(), 0
    for o in range(f.n_out()):
        column = 0
        for i in range(f.n_in()):
            part = np.s_[row : row + f.numel_out(o), column : column + f.numel_in(i)]
            scale = max(np.abs(expected[part]).max(initial=0.0), 1e-6 * whole)
            compare(f"{name}, Jacobian", ours[part], expected[part], SLOPE, scale)
            column += f.numel_in(i)
        row += f.numel_out(o)


def refused(f, arguments):
    try:
        f(*arguments)
    except RuntimeError:
        return True
    return False


pairs = {"inverse_dynamics": model.inverse_dynamics, "forward_dynamics": model.forward_dynamics, "step": model.step}
if model.outputs is not None:
    pairs["outputs"] = model.outputs
externals = {name: external(name) for name in pairs}
slopes = {name: derived(f) for name, f in pairs.items()}
p_names = [ca.MX.sym(name, k) for name, k in zip("pera", (model.nominal.numel(), n, n, n))]
masses_p = ca.Function("m", p_names, [ca.jacobian(model.inverse_dynamics_p(*p_names), p_names[3])])
rng = np.random.default_rng(3)


def check_point(p):
    eta, rate, accel = p["eta"], p["rate"], p["accel"]
    if p["status"] >= 2:
        assert np.isnan(np.array(model.inverse_dynamics(eta, rate, accel))).all(), p
        assert refused(externals["inverse_dynamics"], [eta, rate, accel]), p
        return
    force = p["force"]
    arguments = {
        "inverse_dynamics": [eta, rate, accel],
        "forward_dynamics": [eta, rate, force],
        "outputs": [eta, rate],
        "step": [np.concatenate([eta, rate]), force, 1e-3],
    }
    for name, f in (("expression", model.inverse_dynamics), ("external", externals["inverse_dynamics"])):
        compare(f"force, {name}", f(eta, rate, accel), force, VALUE)
    if "force_p" in p:
        given = p["parameters"]
        compare("force with parameters", model.inverse_dynamics_p(given, eta, rate, accel), p["force_p"], VALUE)
        back = model.forward_dynamics_p(given, eta, rate, p["force_p"])
        mass = np.array(masses_p(given, eta, rate, accel))
        compare("acceleration with parameters", mass @ np.array(back).ravel(), mass @ accel, VALUE, p["force_p"])
    for name, f in pairs.items():
        ours = externals[name](*arguments[name])
        expected = f(*arguments[name])
        ours, expected = (list(x) if isinstance(x, (tuple, list)) else [x] for x in (ours, expected))
        for part, (a, b) in enumerate(zip(ours, expected)):
            what = f"{name} {f.name_out(part)}"
            scale = None
            if name == "forward_dynamics":
                # Accelerations of stiff modes are small differences of large forces: looked at as forces.
                mass = np.array(slopes["inverse_dynamics"](eta, rate, accel))[:, 2 * n :]
                a, b, scale = mass @ np.array(a), mass @ np.array(b), force
            compare(f"{what}, external and expression", a, b, VALUE, scale)
            if part < len(p.get("outputs", [])) and name == "outputs":
                compare(f"{what}, expression", b, p["outputs"][part], VALUE)
        jacobian = np.array(slopes[name](*arguments[name]))
        own = blocks(externals[name], arguments[name])
        compare_blocks(name, own, jacobian)
        directions(name, arguments[name], own)


def directions(name, arguments, jacobian):
    """fwd1_ and adj1_ against the Jacobian."""
    f = externals[name]
    arguments = [ca.DM(a) for a in arguments]
    results = [ca.DM(*f.size_out(i)) for i in range(f.n_out())]

    def flat(made):
        made = made if isinstance(made, (tuple, list)) else [made]
        return np.concatenate([np.array(m).ravel(order="F") for m in made])

    seeds = [rng.standard_normal(f.size_in(i)) for i in range(f.n_in())]
    along = f.forward(1)(*arguments, *results, *seeds)
    compare(f"{name}, forward", flat(along), jacobian @ flat(seeds), VALUE)
    weights = [rng.standard_normal(f.size_out(i)) for i in range(f.n_out())]
    back = f.reverse(1)(*arguments, *results, *weights)
    compare(f"{name}, adjoint", flat(back), jacobian.T @ flat(weights), VALUE)


def check_hessian_is_refused():
    """No garbage where there are no second derivatives."""
    f = externals["inverse_dynamics"]
    x = ca.MX.sym("x", n)
    value = ca.sumsqr(f(x, np.zeros(n), np.zeros(n)))
    try:
        hessian = ca.Function("h", [x], [ca.hessian(value, x)[0]])
        out = np.array(hessian(json.load(open(points))[0]["eta"]))
    except RuntimeError:
        return
    sys.exit(f"{prefix}: a Hessian of an external function was given: {out}")


for point in json.load(open(points)):
    check_point(point)
check_hessian_is_refused()
print(json.dumps({k: float(f"{v:.1e}") for k, v in found.items()}))
