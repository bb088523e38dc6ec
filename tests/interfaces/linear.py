"""Compares linear/linear.mat with linear/linear.json: matrices, names, and poles by python-control."""

import json

import control
import numpy as np
import scipy.io

document = json.load(open("linear/linear.json"))
linear = scipy.io.loadmat("linear/linear.mat")["linear"][0, 0]
points = document["grid"]
for name in "abcd":
    expected = np.array([p[name] for p in points])
    assert np.array_equal(np.moveaxis(linear[name], -1, 0), expected), name
for name in "xuy":
    expected = np.array([p[name] for p in points])
    assert np.array_equal(linear[name][:, 0, :].T, expected), name
assert np.array_equal(linear["grid"]["theta"][0, 0].ravel(), [p["theta"][0] for p in points])
for name in ("states", "inputs", "outputs"):
    assert ["".join(v.ravel()) for v in linear[name].ravel()] == document[name], name
worst = 0.0
for i, p in enumerate(points):
    poles = control.ss(*(linear[k][:, :, i] for k in "abcd")).poles()
    for pole in p["poles"]:
        at = complex(pole["re"], pole["im"])
        # Two poles at the origin, of the free coordinate, are found to the square root of rounding.
        if abs(at) > 1e-3:
            worst = max(worst, np.abs(poles - at).min() / abs(at))
assert worst < 1e-6, worst
print(f"poles agree to {worst:.1e}")
