"""The generated observer against a Kalman filter in covariance form, written with numpy alone.

Of the generated source only what was there before the observer is used: `step`, `linearize`, `forward_dynamics` and
`outputs`. Slopes of readings are extrapolated differences.
"""

import ctypes
import sys

import numpy as np

LIBRARY, N, SUBSTEPS = sys.argv[1], 4, int(sys.argv[2])
PERIOD, GRAVITY = 1e-3, np.array([0.0, 0.0, -9.81])
# Sensors of observer.toml beside this file, in order: name, index, axis, turned with the output, gravity.
SENSORS = [
    ("coordinate", 0, None, False, False),
    ("coordinate", 1, None, False, False),
    ("acceleration", 0, [1.0, 0.0, 0.0], True, True),
    ("acceleration", 0, [0.0, 0.0, 1.0], True, True),
    ("velocity", 0, [1.0, 0.0, 0.0], True, False),
    ("position", 0, [0.0, 0.0, 1.0], False, False),
]
MEASUREMENT = np.diag([1e-10, 1e-10, 2.5e-3, 2.5e-3, 1e-6, 1e-8])
MEASUREMENT[2, 3] = MEASUREMENT[3, 2] = 5e-4
PROCESS = np.diag([200.0**2, 200.0**2, 1.0, 1.0])
INITIAL = np.array([1e-3, 1e-3, 1e-2, 1e-2, 1e-2, 1e-2, 0.1, 0.1, 50.0])
DRIFT = 20.0 * np.sqrt(PERIOD)
STATES = 2 * N + 1
SCALE = np.array([1e-2] * 4 + [0.1] * 4 + [10.0])

ralf = ctypes.CDLL(LIBRARY)


class Observer(ctypes.Structure):
    _fields_ = [
        ("x", ctypes.c_double * STATES),
        ("root", ctypes.c_double * STATES**2),
        ("force", ctypes.c_double * N),
        ("nis", ctypes.c_double),
    ]


def call(name, *arguments):
    pointers = [
        a.ctypes.data_as(ctypes.c_void_p) if isinstance(a, np.ndarray) else a for a in arguments
    ]
    status = getattr(ralf, "ralf_" + name)(*pointers)
    assert status == 0, (name, status)


def array(values):
    return np.ascontiguousarray(values, dtype=float)


def linearize(eta, rate, force):
    a, b = np.zeros((2 * N, 2 * N)), np.zeros((2 * N, N))
    c, d = np.zeros((9, 2 * N)), np.zeros((9, N))
    call("linearize", array(eta), array(rate), array(force), a, b, c, d)
    return a, b, c


def step(x, force, length):
    x = np.array(x)
    call("step", x, array(force), ctypes.c_double(length))
    return x


def tip(eta, rate):
    numbers = np.zeros(18 + 6 * N)
    call("outputs", array(eta), array(rate), numbers)
    jacobian = numbers[18:].reshape(6, N)
    return numbers[:3], numbers[3:12].reshape(3, 3), numbers[12:15], jacobian


def direction(x):
    return tip(x[:N], x[N : 2 * N])[3][2]


def readings(x, force, lever):
    eta, rate = x[:N], x[N : 2 * N]
    total = array(force + lever * x[2 * N])
    accel = np.zeros(N)
    call("forward_dynamics", array(eta), array(rate), total, accel)
    c = linearize(eta, rate, total)[2]
    position, rotation, velocity, _ = tip(eta, rate)
    found = []
    for what, index, axis, body, heavy in SENSORS:
        if what == "coordinate":
            found.append(eta[index])
            continue
        vector = {
            "position": position,
            "velocity": velocity,
            "acceleration": c[6:9] @ np.concatenate([rate, accel]),
        }[what]
        axis = rotation @ np.array(axis) if body else np.array(axis)
        found.append(axis @ (vector - GRAVITY if heavy else vector))
    return np.array(found)


def slopes(x, force, lever):
    def difference(k, width):
        high, low = x.copy(), x.copy()
        high[k] += width
        low[k] -= width
        return (readings(high, force, lever) - readings(low, force, lever)) / (2 * width)

    columns = []
    for k in range(STATES):
        d = [difference(k, SCALE[k] / 2**i) for i in range(3)]
        once = [(4 * d[i + 1] - d[i]) / 3 for i in range(2)]
        columns.append((16 * once[1] - once[0]) / 15)
    return np.array(columns).T


def predict(x, p, force):
    lever = direction(x)
    total = force + lever * x[2 * N]
    a, b, _ = linearize(x[:N], x[N : 2 * N], total)
    whole = np.zeros((STATES + N, STATES + N))
    whole[: 2 * N, : 2 * N] = a
    whole[: 2 * N, 2 * N] = b @ lever
    whole[: 2 * N, STATES:] = b
    length = PERIOD / SUBSTEPS
    one = term = np.eye(STATES + N)
    for k in range(1, 5):
        term = whole @ term * (length / k)
        one = one + term
    all_ = np.linalg.matrix_power(one, SUBSTEPS)
    phi, gamma = all_[:STATES, :STATES], all_[:STATES, STATES:]
    p = phi @ p @ phi.T + gamma @ PROCESS @ gamma.T
    p[2 * N, 2 * N] += DRIFT**2
    motion = x[: 2 * N]
    for _ in range(SUBSTEPS):
        motion = step(motion, total, length)
    return np.append(motion, x[2 * N]), (p + p.T) / 2


def update(x, p, z, force):
    lever = direction(x)
    h = slopes(x, force, lever)
    innovation = z - readings(x, force, lever)
    s = h @ p @ h.T + MEASUREMENT
    gain = np.linalg.solve(s, h @ p).T
    rest = np.eye(STATES) - gain @ h
    p = rest @ p @ rest.T + gain @ MEASUREMENT @ gain.T
    return x + gain @ innovation, p, innovation @ np.linalg.solve(s, innovation)


def main():
    random = np.random.default_rng(3)
    eta, rate = array([0.02, -0.03, 1e-3, -2e-3]), array([0.05] * N)
    force = array([3000.0, 2000.0, 0.0, 0.0])
    observer = Observer()
    call("observer_init", ctypes.byref(observer), eta, rate, force)
    x, p = np.concatenate([eta, rate, [0.0]]), np.diag(INITIAL**2)
    truth = x.copy()
    worst = np.zeros(3)
    for k in range(60):
        acting = array(force * (1 + 0.2 * np.sin(0.3 * k)))
        truth[: 2 * N] = step(truth[: 2 * N], acting + direction(truth) * truth[2 * N], PERIOD)
        truth[2 * N] += 0.5
        noise = np.linalg.cholesky(MEASUREMENT) @ random.standard_normal(len(SENSORS))
        z = array(readings(truth, acting, direction(truth)) + noise)
        call("observer_predict", ctypes.byref(observer), acting)
        call("observer_update", ctypes.byref(observer), z)
        x, p = predict(x, p, acting)
        x, p, nis = update(x, p, z, acting)
        root = np.array(observer.root).reshape(STATES, STATES)
        deviations = np.sqrt(np.diag(p))
        size = np.maximum(np.abs(x), deviations)
        apart = [
            np.max(np.abs(np.array(observer.x) - x) / size),
            np.max(np.abs(root @ root.T - p) / np.outer(deviations, deviations)),
            abs(observer.nis - nis) / len(SENSORS),
        ]
        worst = np.maximum(worst, apart)
    print("estimate %.1e, covariance %.1e, NIS %.1e" % tuple(worst))
    assert worst[0] < 1e-10 and worst[1] < 1e-9 and worst[2] < 1e-9, worst


main()
