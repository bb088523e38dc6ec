"""Compares linear/linear.h5 and motion/trajectory.h5 with the documents beside them: arrays, names, units, descriptions."""

import json

import h5py
import numpy as np


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def texts(values):
    return [text(v) for v in np.atleast_1d(values)]


def described(group):
    """Every array says what it is, and gives one unit or one for every element."""
    for name, item in group.items():
        assert text(item.attrs["description"]), name
        if isinstance(item, h5py.Group):
            described(item)
            continue
        count = len(texts(item.attrs["unit"]))
        assert count in (1, item.shape[0]), (name, count)


document = json.load(open("linear/linear.json"))
points = document["grid"]
file = h5py.File("linear/linear.h5")
linear = file["linear"]
described(linear)
for name in "abcd":
    expected = np.array([p[name] for p in points])
    assert np.array_equal(np.moveaxis(linear[name][()], -1, 0), expected), name
for name in "xuy":
    expected = np.array([p[name] for p in points])
    assert np.array_equal(linear[name][:, 0, :].T, expected), name
assert np.array_equal(linear["grid/theta"][()].ravel(), [p["theta"][0] for p in points])
assert text(linear["grid/theta"].attrs["unit"]) == "rad"
for name in ("states", "inputs", "outputs"):
    assert texts(linear[name][()]) == document[name], name
assert texts(linear["name"][()]) == [document["name"]]
units = dict(zip(document["states"], texts(linear["states"].attrs["unit"])))
assert units["theta"] == "rad" and units["rate.theta"] == "rad/s", units
units = dict(zip(document["outputs"], texts(linear["outputs"].attrs["unit"])))
assert units["coordinate.theta"] == "rad" and units["B.x"] == "m", units
assert texts(linear["inputs"].attrs["unit"]) == ["N m"]

document = json.load(open("motion/trajectory.json"))
trajectory = h5py.File("motion/trajectory.h5")["trajectory"]
described(trajectory)
instants = document["instants"]
assert texts(trajectory["coordinates"][()]) == document["coordinates"]
assert np.array_equal(trajectory["time"][()].ravel(), [i["time"] for i in instants])
for name in ("mass", "damping", "stiffness"):
    expected = np.array([i[name] for i in instants])
    assert np.array_equal(np.moveaxis(trajectory[name][()], -1, 0), expected), name
for name in ("theta", "rate", "acceleration", "force", "excitation"):
    expected = np.array([i[name] for i in instants])
    assert np.array_equal(trajectory[name][:, 0, :].T, expected), name
print(f"{len(points)} linear models and {len(instants)} instants agree")
