"""Plans a motion of a model from rest to rest: FOLDER PREFIX FROM TO DURATION INTERVALS [compiled].

Direct collocation (three Radau points) of the expressions of a `casadi` export, solved by IPOPT with exact Hessians, or of its
compiled functions, with limited memory in the Hessian's place: the force on the first coordinate is continuous and piecewise
linear, its rate as small as can be in the mean square. Writes `force.csv` and `plan.json` into the folder.
"""

import json
import sys

import casadi as ca
import numpy as np

folder, prefix = sys.argv[1:3]
start, end, duration = (float(x) for x in sys.argv[3:6])
intervals = int(sys.argv[6])
is_compiled = sys.argv[7:] == ["compiled"]
sys.path.insert(0, folder)
model = __import__(f"{prefix}_model").Model(clamp=False)
dynamics = model.inverse_dynamics
options = {"print_level": 0, "sb": "yes", "tol": 1e-9, "max_iter": 200}
Symbol = ca.SX
if is_compiled:
    dynamics = ca.external(f"{prefix}_casadi_inverse_dynamics", f"{folder}/{prefix}_casadi.so")
    options |= {"tol": 1e-6, "hessian_approximation": "limited-memory"}
    Symbol = ca.MX
n = model.n
h = duration / intervals
opti = ca.Opti()
# Modal amplitudes are small, their rates fast: variables of order one.
scale = ca.DM([1.0] + [1e-3] * (n - 1) + [1.0] + [1e-2] * (n - 1))
points = ca.collocation_points(3, "radau")
C, D, _ = ca.collocation_coeff(points)


def driven(u):
    return ca.vertcat(u, ca.DM.zeros(n - 1))


def interval():
    """What must vanish in one interval, by its first state, those inside, and the forces at its ends."""
    x, inside = Symbol.sym("x", 2 * n), Symbol.sym("inside", 2 * n, len(points))
    first, last = Symbol.sym("first"), Symbol.sym("last")
    every = ca.repmat(scale, 1, len(points) + 1) * ca.horzcat(x, inside)
    change = ca.mtimes(every, C) / h
    out = []
    for j, tau in enumerate(points):
        at, slope, u = every[:, j + 1], change[:, j], first + tau * (last - first)
        out.append((slope[:n] - at[n:]) / scale[n:])
        out.append(dynamics(at[:n], at[n:], slope[n:]) - driven(u))
    return ca.Function("interval", [x, inside, first, last], [ca.vertcat(*out)])


def reached():
    """Coordinates that the force moves; modes across the plane of a planar mechanism stay at rest by themselves."""
    rng, moved = np.random.default_rng(1), np.eye(n)[0]
    for _ in range(n):
        eta, rate = ([start] + [1e-3] * (n - 1)) * moved, rng.standard_normal(n) * moved
        accel = np.array(model.forward_dynamics(eta, rate, np.eye(n)[0])).ravel()
        moved = np.maximum(moved, np.abs(accel) > 1e-9 * np.abs(accel).max())
    return [i for i in range(n) if moved[i]]


def at_rest(x, u, rows):
    """Neither moving nor about to move."""
    x = scale * x
    opti.subject_to(x[[n + i for i in rows]] / scale[[n + i for i in rows]] == 0)
    balance = dynamics(x[:n], ca.DM.zeros(n), ca.DM.zeros(n)) - driven(u)
    opti.subject_to(balance[rows] == 0)


count = len(points)
forces = opti.variable(1, intervals + 1)
inside = opti.variable(2 * n, count * intervals)
first = opti.variable(2 * n)
# The last point of an interval is its end.
nodes = ca.horzcat(first, *(inside[:, count * (k + 1) - 1] for k in range(intervals)))
residual = interval().map(intervals)(nodes[:, :-1], inside, forces[:-1], forces[1:])
opti.subject_to(ca.vec(residual) == 0)
opti.subject_to(opti.bounded(model.lower[0], inside[0, :], model.upper[0]))
opti.subject_to(first[0] == start)
opti.subject_to(nodes[0, -1] == end)
at_rest(first, forces[0], list(range(n)))
at_rest(nodes[:, -1], forces[-1], reached())
# A good start: a smooth step of theta.
t = np.array([(k + tau) / intervals for k in range(intervals) for tau in points])
guess = np.zeros((2 * n, t.size))
guess[0] = start + (end - start) * (3 - 2 * t) * t**2
guess[n] = (end - start) * 6 * (1 - t) * t / duration
opti.set_initial(inside, guess)
opti.set_initial(first, [start] + [0.0] * (2 * n - 1))
cost = ca.sumsqr(forces[1:] - forces[:-1]) / h
opti.minimize(1e-4 * cost)
opti.solver("ipopt", {"print_time": False, "error_on_fail": False}, options)
solution = opti.solve()
stats = solution.stats()
u = np.array(solution.value(forces)).ravel()
last = np.array(solution.value(scale * nodes[:, -1])).ravel()
positions = np.array(model.outputs(last[:n], last[n:])[0])
times = np.linspace(0.0, duration, 10 * intervals + 1)
with open(f"{folder}/force.csv", "w") as file:
    file.write("time,force\n")
    values = np.interp(times, np.linspace(0.0, duration, intervals + 1), u)
    file.writelines(f"{t!r},{f!r}\n" for t, f in zip(times.tolist(), values.tolist()))
plan = {
    "status": stats["return_status"],
    "iterations": stats["iter_count"],
    "cost": float(solution.value(cost)),
    "largest_force": np.abs(u).max(),
    "position": {name: positions[:, o].tolist() for o, name in enumerate(model.output_names)},
}
json.dump(plan, open(f"{folder}/plan.json", "w"))
print(json.dumps(plan))
