"""Shapes: leading axes, and documents whose lists of numbers become arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def vectors(**lists: tuple[npt.ArrayLike, int]) -> tuple[tuple[int, ...], list[Array]]:
    """Lists of vectors as contiguous arrays with the same leading axes, and these axes.

    Each argument comes with the length that its last axis must have.
    """
    arrays = []
    for name, (values, length) in lists.items():
        array = np.asarray(values, dtype=np.float64)
        if array.ndim == 0 or array.shape[-1] != length:
            raise ValueError(f"{name} has the shape {array.shape}, but its last axis must have {length} value(s)")
        arrays.append(array)
    leading = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
    full = [np.ascontiguousarray(np.broadcast_to(a, leading + a.shape[-1:])) for a in arrays]
    return leading, full


def numeric(value: Any) -> Any:
    """A JSON document with every list of numbers as an array."""
    if isinstance(value, dict):
        return {key: numeric(entry) for key, entry in value.items()}
    if isinstance(value, list):
        if value and _is_numeric(value):
            return np.array(value, dtype=np.float64)
        return [numeric(entry) for entry in value]
    return value


def _is_numeric(value: Any) -> bool:
    if isinstance(value, list):
        return all(_is_numeric(entry) for entry in value) and len({_shape(entry) for entry in value}) == 1
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _shape(value: Any) -> tuple[int, ...]:
    return (len(value), *_shape(value[0])) if isinstance(value, list) and value else ()
