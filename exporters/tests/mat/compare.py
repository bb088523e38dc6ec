"""Compares all arrays of .mat files with those of HDF5 files: MAT H5 MAT H5 ..."""

import sys

import h5py
import numpy as np
import scipy.io


def texts(value):
    if value.dtype == object:
        return ["".join(v.ravel()) for v in value.ravel()]
    return ["".join(value.ravel())]


def compare(mat, h5):
    model, file, count = scipy.io.loadmat(mat)["model"][0, 0], h5py.File(h5), 0
    for group in file:
        for name, data in file[group].items():
            ours, theirs = model[group][0, 0][name], data[()]
            if theirs.dtype.kind == "S":
                same = texts(ours) == [t.decode() for t in theirs.ravel()]
            else:
                same = np.array_equal(ours.reshape(theirs.shape), theirs, equal_nan=True)
            if not same:
                sys.exit(f"{mat}, {group}/{name}: {ours} and {theirs}")
            count += 1
    assert count > 30, count
    assert model["format"][0, 0] == file.attrs["format"]


for mat, h5 in zip(sys.argv[1::2], sys.argv[2::2]):
    compare(mat, h5)
