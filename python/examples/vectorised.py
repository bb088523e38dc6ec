# %% [markdown]
# # One call for many configurations
#
# Inverse dynamics of the flexible four-bar at 100 000 states: one call with arrays against a loop of Python over single
# calls. `python vectorised.py [DATA]`, DATA being the folder `data` of the project.

# %%
import pathlib
import sys
import time

import mechreduce
import numpy as np

data = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 and "ipykernel" not in sys.modules else "data")
model = mechreduce.Mechanism.load(data / "four_bar.toml").reduce()
random = np.random.default_rng(1)
count = 100_000
eta = np.zeros((count, model.n))
eta[:, 0] = random.uniform(-1.7, 1.7, count)
rate, accel = random.standard_normal((2, count, model.n))


def seconds(function):
    """Processor time of all threads in the shortest of three runs, which other programs disturb least, and what it gave."""
    runs = []
    for _ in range(3):
        start = time.process_time()
        result = function()
        runs.append(time.process_time() - start)
    return min(runs), result


together, at_once = seconds(lambda: model.inverse_dynamics(eta, rate, accel))
singly, one_by_one = seconds(lambda: np.array([model.inverse_dynamics(*state) for state in zip(eta, rate, accel)]))
assert np.array_equal(at_once, one_by_one), "the same numbers"
print(f"one call {together:.3f} s of processor time, {count} calls {singly:.2f} s: {singly / together:.0f} times")
