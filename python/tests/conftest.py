"""Models made by the command line, which the package must agree with."""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "data"


class CommandLine:
    """Runs the verbs of the program."""

    def __init__(self, program):
        self.program = program

    def run(self, *words, code=0):
        """Standard output of a command that must end with this exit code."""
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        return done.stdout

    def json(self, *words, code=0):
        return json.loads(self.run(*words, "--json", code=code))


@pytest.fixture(scope="session")
def cli():
    program = pathlib.Path(os.environ.get("REDUCE_PROGRAM", ROOT / "target/release/reduce"))
    assert program.exists(), "build the program first: cargo build --release"
    return CommandLine(program)


class Made:
    """A mechanism with its model and summary, as the command line made them."""

    def __init__(self, cli, name, folder):
        self.file = DATA / f"{name}.toml"
        self.folder = folder
        self.summary = cli.json(self.file, "-o", folder, "--no-report")
        self.model = folder / "model.json"


@pytest.fixture(scope="session")
def four_bar(cli, tmp_path_factory):
    """One actuated coordinate, a loaded direction and internal modes."""
    return Made(cli, "four_bar", tmp_path_factory.mktemp("four_bar"))


@pytest.fixture(scope="session")
def rigid(cli, tmp_path_factory):
    return Made(cli, "four_bar_rigid", tmp_path_factory.mktemp("rigid"))


@pytest.fixture(scope="session")
def orthoglide(cli, tmp_path_factory):
    """Three actuated coordinates, an output."""
    return Made(cli, "orthoglide", tmp_path_factory.mktemp("orthoglide"))
