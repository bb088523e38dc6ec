"""Reduced models: numbers of `reduce eval`, and where it has none, of the generated C."""

import ctypes
import subprocess
import warnings

import mechreduce
import numpy as np
import pytest
from conftest import DATA
from mechreduce._arrays import numeric
from test_mechanism import same

RANDOM = np.random.default_rng(5)


@pytest.fixture(scope="module", params=["four_bar", "orthoglide"])
def made(request):
    return request.getfixturevalue(request.param)


def listed(values):
    return ",".join(repr(float(value)) for value in values)


def configurations(model, count):
    """Random θ of the domain."""
    domain = model.domain
    lower, upper = np.array(domain["lower"]), np.array(domain["upper"])
    return lower + (upper - lower) * RANDOM.random((count, model.n_rigid))


def states(model, count):
    theta = configurations(model, count)
    modal = 1e-4 * RANDOM.standard_normal((count, model.n - model.n_rigid))
    rate, accel = RANDOM.standard_normal((2, count, model.n))
    return np.concatenate([theta, modal], axis=1), rate, accel


def test_coefficients(cli, made):
    model = mechreduce.Model.load(made.model)
    theta = configurations(model, 4)
    together = model.coefficients(theta)
    for i, at in enumerate(theta):
        expected = numeric(cli.json("eval", made.model, f"--at={listed(at)}"))
        for key in ("loaded_frequencies_hz", "lacks_proof", "status"):
            expected.pop(key)
        same(model.coefficients(at), expected)
        for key in ("mass", "stiffness", "damping", "gyroscopic", "gravity", "frequencies_hz"):
            assert np.array_equal(together[key][i], np.reshape(expected[key], together[key][i].shape)), key


def test_derived_quantities(cli, tmp_path):
    file = tmp_path / "elbow.toml"
    derived = '[[derived]]\nname = "{}"\nvalue = "{}"\n'
    text = (DATA / "elbow.toml").read_text()
    file.write_text(text + derived.format("inverse", "inv(M)") + derived.format("first", "[M.tt, K.tt]"))
    cli.json(file, "-o", tmp_path / "out", "--no-report")
    model = mechreduce.Model.load(tmp_path / "out/model.json")
    theta = configurations(model, 3)
    together = model.derived(theta)
    assert [together[name].shape for name in ("inverse", "first")] == [(3, 3, 3), (3, 3, 6)]
    for i, at in enumerate(theta):
        expected = cli.json("eval", tmp_path / "out/model.json", f"--at={listed(at)}")["derived"]
        for name, value in model.derived(at).items():
            assert np.array_equal(value, expected[name]), name
            assert np.array_equal(together[name][i], expected[name]), name
    assert mechreduce.Model.load(tmp_path / "out/model.h5").derived(theta)["first"].shape == (3, 3, 6)


def test_dynamics_linear_models_and_feedforward(cli, made):
    model = mechreduce.Model.load(made.model)
    s = model.n_rigid
    for eta, rate, accel in zip(*states(model, 3)):
        words = [f"--at={listed(eta[:s])}", f"--rate={listed(rate)}", f"--accel={listed(accel)}"]
        if model.n > s:
            words.append(f"--modal={listed(eta[s:])}")
        expected = numeric(cli.json("eval", made.model, *words, "--linearize", "--feedforward"))
        force = model.inverse_dynamics(eta, rate, accel)
        assert np.array_equal(force, expected["force"])
        linear = model.linearize(eta, rate, force)
        for name, matrix in linear._asdict().items():
            assert np.array_equal(matrix, np.reshape(expected["linear"][name], matrix.shape)), name
        found = model.feedforward(eta[:s], rate[:s], accel[:s])
        assert np.array_equal(found.force, expected["feedforward"]["force"])
        assert np.array_equal(found.modal, np.reshape(expected["feedforward"]["modal"], found.modal.shape))
        back = model.forward_dynamics(eta, rate, force)
        assert np.allclose(back, accel, rtol=1e-8, atol=1e-8)


def test_outputs(cli, made):
    model = mechreduce.Model.load(made.model)
    at = configurations(model, 1)[0]
    expected = numeric(cli.json("eval", made.model, f"--at={listed(at)}")["outputs"])
    eta = np.concatenate([at, np.zeros(model.n - model.n_rigid)])
    rate = RANDOM.standard_normal(model.n)
    assert list(expected) == sorted(model.output_names)
    for name, motion in model.outputs(eta, rate).items():
        for part in ("position", "rotation", "jacobian"):
            assert np.array_equal(getattr(motion, part), expected[name][part]), part
        twist = motion.jacobian @ rate
        assert np.allclose(np.concatenate([motion.velocity, motion.angular_velocity]), twist, rtol=1e-12)
        assert np.array_equal(model.outputs(eta)[name].velocity, np.zeros(3))


@pytest.fixture(scope="module")
def library(four_bar, tmp_path_factory):
    """The C that the command line wrote for the same model."""
    folder = tmp_path_factory.mktemp("c")
    source, shared = four_bar.folder / "c/four_bar.c", folder / "four_bar.so"
    flags = ["-std=c99", "-O1", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-o", shared, source, "-lm"], check=True)
    return ctypes.CDLL(str(shared))


def called(function, *arrays):
    """Calls C with lists of doubles; the status."""
    return function(*(a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in arrays))


def test_accelerations_and_steps_are_those_of_generated_code(four_bar, library):
    model = mechreduce.Model.load(four_bar.model)
    n, dt = model.n, 1e-6
    eta, rate, force = states(model, 20)
    accel = model.forward_dynamics(eta, rate, force)
    stepped = model.step(np.concatenate([eta, rate], axis=1), force, dt)
    library.four_bar_step.argtypes = [ctypes.POINTER(ctypes.c_double)] * 2 + [ctypes.c_double]
    for i in range(20):
        expected = np.zeros(n)
        assert called(library.four_bar_forward_dynamics, eta[i], rate[i], force[i], expected) == 0
        assert np.allclose(accel[i], expected, rtol=1e-13, atol=0)
        state = np.concatenate([eta[i], rate[i]])
        pointers = [a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in (state, force[i])]
        assert library.four_bar_step(*pointers, dt) == 0
        assert np.allclose(stepped[i], state, rtol=1e-13, atol=0)


def test_one_call_for_many_states_is_many_calls(made):
    model = mechreduce.Model.load(made.model)
    eta, rate, accel = states(model, 60)
    shape = (4, 15, model.n)
    grid = [a.reshape(shape) for a in (eta, rate, accel)]
    for function in (model.inverse_dynamics, model.forward_dynamics):
        together = function(*grid)
        assert together.shape == shape
        alone = [function(*state) for state in zip(eta, rate, accel)]
        assert np.array_equal(together.reshape(60, -1), alone)
    linear = model.linearize(*grid)
    assert np.array_equal(linear.A[3, 14], model.linearize(eta[-1], rate[-1], accel[-1]).A)
    states_ = np.concatenate(grid[:2], axis=-1)
    assert np.array_equal(model.step(states_, grid[2], 1e-6)[0, 1], model.step(states_[0, 1], accel[1], 1e-6))
    # A rate for all configurations, strided and of another type.
    still = model.inverse_dynamics(grid[0][:, ::2], np.zeros(model.n, dtype=int), grid[2][:, ::2])
    assert np.array_equal(still[1, 1], model.inverse_dynamics(eta[17], 0 * rate[0], accel[17]))
    assert model.inverse_dynamics(eta[:0], rate[:0], accel[:0]).shape == (0, model.n)


def test_outside_is_clamped_and_told(cli, four_bar):
    model = mechreduce.Model.load(four_bar.model)
    expected = numeric(cli.json("eval", four_bar.model, "--at=9"))
    assert expected["status"] == "clamped"
    with pytest.warns(mechreduce.DomainWarning, match="1 of 2 configuration") as told:
        found = model.coefficients([[0.3], [9.0]])
    assert told[0].filename == __file__
    assert np.array_equal(found["mass"][1], expected["mass"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, status = model.coefficients([[0.3], [9.0]], return_status=True)
    assert status.tolist() == [mechreduce.Status.INSIDE, mechreduce.Status.CLAMPED]
    assert model.status([[0.3], [9.0]]).tolist() == status.tolist()


def test_there_is_no_number_where_the_model_has_none(cli, four_bar):
    model = mechreduce.Model.load(four_bar.model)
    eta = np.zeros((2, model.n))
    eta[1, 0] = np.nan
    force, status = model.inverse_dynamics(eta, 0 * eta[0], 0 * eta[0], return_status=True)
    assert status.tolist() == [mechreduce.Status.INSIDE, mechreduce.Status.NOT_FINITE]
    assert np.isfinite(force[0]).all() and np.isnan(force[1]).all()
    grid = model.inverse_dynamics(eta.reshape(2, 1, -1), 0 * eta[0], np.zeros((3, model.n)))
    assert np.isnan(grid).all(axis=-1).tolist() == [[False] * 3, [True] * 3]
    found = model.coefficients(eta[:, :1])
    assert np.isnan(found["mass"][1]).all() and np.isfinite(found["mass"][0]).all()
    assert np.isnan(model.outputs(eta)[model.output_names[0]].position[1]).all()


def test_a_payload_weighs_on_the_actuators(orthoglide):
    model = mechreduce.Model.load(orthoglide.model)
    eta, zero = np.full(model.n, 0.05), np.zeros(model.n)
    gravity = np.array([0.3, -2.0, -9.81])
    loaded = model.with_parameters(payload_mass=[1.5], gravity=gravity)
    unloaded = model.with_parameters(payload_mass=[0.0], gravity=gravity)
    jacobian = model.outputs(eta)[model.output_names[0]].jacobian[:3]
    weight = loaded.inverse_dynamics(eta, zero, zero) - unloaded.inverse_dynamics(eta, zero, zero)
    assert np.allclose(weight, -1.5 * jacobian.T @ gravity, rtol=1e-11)
    with pytest.raises(mechreduce.Error, match="payload"):
        model.with_parameters(payload_mass=[1.0, 2.0])


def test_check(cli, orthoglide):
    model = mechreduce.Model.load(orthoglide.model)
    mechanism = mechreduce.Mechanism.load(orthoglide.file)
    words = ["--samples", "20", "--seed", "3"]
    expected = numeric(cli.json("check", orthoglide.model, orthoglide.file, *words))
    same(model.check(mechanism, samples=20, seed=3), expected)


def test_check_refuses_another_mechanism(cli, orthoglide, rigid):
    model = mechreduce.Model.load(orthoglide.model)
    faults = cli.json("check", orthoglide.model, rigid.file, code=2)["faults"]
    with pytest.raises(mechreduce.Error) as raised:
        model.check(mechreduce.Mechanism.load(rigid.file))
    assert raised.value.faults == faults


@pytest.mark.parametrize("format", ["json", "hdf5", "c", "rust"])
def test_export_writes_what_the_command_line_writes(cli, rigid, tmp_path, format):
    suffix = {"json": ".json", "hdf5": ".h5"}.get(format, "")
    ours, theirs = tmp_path / f"ours{suffix}", tmp_path / f"theirs{suffix}"
    mechreduce.Model.load(rigid.model).export(format, ours)
    cli.run("export", rigid.model, "--format", format, "-o", theirs)
    files = [f for f in theirs.rglob("*") if f.is_file()] if theirs.is_dir() else [theirs]
    for file in files:
        own = ours / file.relative_to(theirs) if theirs.is_dir() else ours
        assert own.read_bytes() == file.read_bytes(), file


def test_models_are_saved_and_loaded_whole(rigid, tmp_path):
    model = mechreduce.Model.load(rigid.model)
    model.save(tmp_path / "m.h5")
    mechreduce.Model.load(tmp_path / "m.h5").save(tmp_path / "m.json")
    assert (tmp_path / "m.json").read_bytes() == rigid.model.read_bytes()
    with pytest.raises(ValueError, match="neither in .json nor in .h5"):
        model.save(tmp_path / "m.txt")
    foreign = tmp_path / "foreign.json"
    foreign.write_text("mine")
    with pytest.raises(mechreduce.Error, match="foreign.json"):
        model.save(foreign)
    assert foreign.read_text() == "mine"
    with pytest.raises(ValueError, match="format is one of json, hdf5, mat, c, rust, casadi, fmu"):
        model.export("fortran", tmp_path / "x")
    with pytest.raises(mechreduce.Error, match="--fmi is for --format fmu"):
        model.export("c", tmp_path / "x", fmi=2)


def test_a_damaged_file_is_an_error(tmp_path, rigid):
    file = tmp_path / "model.json"
    file.write_bytes(rigid.model.read_bytes()[:-200])
    with pytest.raises(mechreduce.Error, match="model.json"):
        mechreduce.Model.load(file)
