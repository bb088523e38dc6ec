# %% [markdown]
# # Figures 5.20 to 5.25 and 5.30 of the thesis
#
# The flexible four-bar (thesis 5.8.1) and the Orthoglide (5.8.2), reduced with the thesis's settings and drawn as there.
# Run it as a script, `python thesis_figures.py [DATA] [FOLDER]`, or cell by cell. DATA is the folder `data` of the
# project, FOLDER where the figures go. The exact curves are the full model, reduced at every drawn configuration.

# %%
import pathlib
import sys
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import mechreduce
import numpy as np

interactive = "ipykernel" in sys.modules
words = [] if interactive else sys.argv[1:]
data = pathlib.Path(words[0] if words else "data")
folder = pathlib.Path(words[1] if len(words) > 1 else "figures")
folder.mkdir(parents=True, exist_ok=True)


def save(figure, name):
    """Writes a figure."""
    figure.tight_layout()
    figure.savefig(folder / f"{name}.png", dpi=120)
    plt.close(figure)
    print(folder / f"{name}.png")


# %% [markdown]
# ## The four-bar: exact curves, a regular grid, the adaptive model
#
# Inertia and gyroscopic component of the rigid mode, stiffness of the constraint mode, gravity and the load map do not
# depend on how internal modes are tracked, so the exact curves come from `four_bar.toml`. The regular grid is that of the
# thesis: 32 boxes, quadratic Lagrange polynomials on three nodes each, no refinement. The program itself refines always;
# the few lines below are the regular grid.

# %%
four_bar = mechreduce.Mechanism.load(data / "four_bar.toml")
adaptive = mechreduce.Mechanism.load(data / "four_bar_thesis.toml").reduce(folder / "four_bar", report=False)
LOWER, UPPER, BOXES = -1.75, 1.75, 32


def curves(document):
    """The components that the figures show."""
    return {
        "mass": document["mass"][..., 0, 0],
        "gyroscopic": document["gyroscopic"][..., 0, 0, 0],
        "stiffness": document["stiffness"][..., 1, 1],
        "gravity": document["gravity"][..., 0],
        "load map": document["psi_g_theta"][..., 0, 0],
    }


def regular(theta, nodes, values):
    """Piecewise quadratic interpolation: three nodes per box, shared at its ends."""
    box = np.clip(((theta - LOWER) / (UPPER - LOWER) * BOXES).astype(int), 0, BOXES - 1)
    x = [nodes[2 * box + k] for k in range(3)]
    y = [values[2 * box + k] for k in range(3)]
    total = np.zeros_like(theta)
    for k in range(3):
        others = [x[j] for j in range(3) if j != k]
        total += y[k] * np.prod([(theta - o) / (x[k] - o) for o in others], axis=0)
    return total


theta = np.linspace(LOWER, UPPER, 401)
nodes = np.linspace(LOWER, UPPER, 2 * BOXES + 1)
exact = curves(four_bar.local(theta[:, None], frequencies=1))
at_nodes = curves(four_bar.local(nodes[:, None], frequencies=1))
on_grid = {name: regular(theta, nodes, values) for name, values in at_nodes.items()}
# Regions in which modes cannot be tracked have no model: NaN, a gap in the curves.
refined = curves(adaptive.coefficients(theta[:, None]))


def error(found, name):
    """Relative to the exact value, at least a tenth of its root mean square, per cent."""
    size = np.maximum(np.abs(exact[name]), 0.1 * np.sqrt(np.mean(exact[name] ** 2)))
    return 100 * np.abs(found[name] - exact[name]) / size


# %% [markdown]
# ### Figures 5.20 and 5.21: the regular grid

# %%
figure, axes = plt.subplots(2, 2, figsize=(9, 6), sharex=True)
for column, (name, label) in enumerate([("mass", "M(1,1) [kg m²]"), ("gyroscopic", "h(1,1,1) [kg m²]")]):
    axes[0, column].plot(theta, exact[name], "k", lw=3, alpha=0.3, label="exact")
    axes[0, column].plot(theta, on_grid[name], label="32 equal boxes")
    axes[0, column].set_ylabel(label)
    axes[1, column].semilogy(theta, error(on_grid, name))
    axes[1, column].set_ylim(1e-5, 200)
    axes[1, column].set_ylabel("relative error [%]")
    axes[1, column].set_xlabel("θ [rad]")
axes[0, 0].legend()
save(figure, "figure_5_20")

figure, axes = plt.subplots(1, 2, figsize=(9, 3.5))
for ax, (low, high) in zip(axes, [(LOWER, UPPER), (0.6, 1.0)]):
    inside = (theta >= low) & (theta <= high)
    ax.semilogy(theta[inside], exact["stiffness"][inside], "k", lw=3, alpha=0.3, label="exact")
    ax.semilogy(theta[inside], np.abs(on_grid["stiffness"][inside]), label="32 equal boxes, size")
    ax.set_xlabel("θ [rad]")
    ax.set_ylabel("stiffness of the constraint mode [N/m]")
axes[0].legend()
save(figure, "figure_5_21")

# %% [markdown]
# ### Figures 5.22 to 5.24: the adaptive grid beside it

# %%
figure, ax = plt.subplots(figsize=(9, 2))
edges = np.unique(adaptive.boxes[:, :, 0])
for level, lines, label in [(1, np.linspace(LOWER, UPPER, BOXES + 1), "regular, 32"), (0, edges, f"adaptive, {len(adaptive.boxes)}")]:
    ax.vlines(lines, level, level + 0.8)
    ax.text(UPPER + 0.05, level + 0.3, label)
ax.set_xlabel("θ [rad]")
ax.set_yticks([])
ax.set_xlim(LOWER - 0.05, UPPER + 0.6)
save(figure, "figure_5_22")

figure, axes = plt.subplots(2, 2, figsize=(9, 6), sharex=True)
for column, name in enumerate(["mass", "gyroscopic"]):
    for found, label in [(on_grid, "regular"), (refined, "adaptive")]:
        axes[0, column].plot(theta, found[name], label=label)
        axes[1, column].semilogy(theta, error(found, name), label=label)
    axes[0, column].set_ylabel(name)
    axes[1, column].set_ylim(1e-5, 200)
    axes[1, column].set_ylabel("relative error [%]")
    axes[1, column].set_xlabel("θ [rad]")
axes[0, 0].legend()
save(figure, "figure_5_23")

figure, ax = plt.subplots(figsize=(6, 4))
inside = (theta >= 0.6) & (theta <= 1.0)
ax.semilogy(theta[inside], exact["stiffness"][inside], "k", lw=3, alpha=0.3, label="exact")
for found, label in [(on_grid, "regular"), (refined, "adaptive")]:
    ax.semilogy(theta[inside], np.abs(found["stiffness"][inside]), label=label)
ax.set_xlabel("θ [rad]")
ax.set_ylabel("stiffness of the constraint mode [N/m]")
ax.legend()
save(figure, "figure_5_24")

# %% [markdown]
# ### Figure 5.25: what else the model holds

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 3.5))
for ax, (name, label) in zip(axes, [("gravity", "gravity on θ [N m]"), ("load map", "dz/dθ of the loaded point [m]")]):
    ax.plot(theta, exact[name], "k", lw=3, alpha=0.3, label="exact")
    ax.plot(theta, refined[name], label="model")
    ax.set_xlabel("θ [rad]")
    ax.set_ylabel(label)
axes[0].legend()
save(figure, "figure_5_25")

# %% [markdown]
# ## Figure 5.30: the Orthoglide along a diagonal of its domain
#
# Quadratic polynomials against Lagrange polynomials of second order, 0.5 % and boxes of at least 5 cm.

# %%
ours = "tolerances = { mass = 0.005, gyroscopic = 0.005, gravity = 0.005, force = 0.005 }\n"
settings = 'form = "direct"\nbasis = "{}"\ntolerance = 0.005\nminimal_width = 0.05\n'
text = (data / "orthoglide.toml").read_text()
assert ours in text, "the settings that the thesis's replace"
place = np.linspace(0, 1, 201)[:, None]
line = (1 - place) * [-0.08, -0.08, 0.26] + place * [0.26, 0.26, -0.08]
exact = mechreduce.Mechanism.load(data / "orthoglide.toml").local(line, frequencies=1)
found = {}
for basis in ["quadratic", "lagrange"]:
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "orthoglide.toml"
        file.write_text(text.replace(ours, settings.format(basis)))
        found[basis] = mechreduce.Mechanism.load(file).reduce()

figure, axes = plt.subplots(1, 2, figsize=(9, 3.5))
for ax, (name, index, label) in zip(axes, [("mass", (0, 0), "M(1,1) [kg]"), ("gyroscopic", (0, 0, 0), "h(1,1,1) [kg/m]")]):
    ax.plot(place, exact[name][(..., *index)], "k", lw=3, alpha=0.3, label="exact")
    for basis, model in found.items():
        values = model.coefficients(line)[name][(..., *index)]
        ax.plot(place, values, label=f"{basis}, {len(model.boxes)} boxes")
    ax.set_xlabel("place on the line")
    ax.set_ylabel(label)
axes[0].legend()
save(figure, "figure_5_30")
