"""The program of docs/python.md runs as it stands there."""

import re

import numpy as np
from conftest import ROOT


def test_the_program_of_the_document(tmp_path, monkeypatch, capsys):
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.S)
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(block, "docs/python.md", "exec"), names)
    assert "<mechreduce.Model four_bar: 7 coordinates (theta, zB, internal_1" in capsys.readouterr().out
    assert names["force"].shape == (1000, 7)
    assert np.allclose(names["force"][::100, 0], -names["exact"]["gravity"][:, 0], rtol=0.02, atol=0.02)
    assert (tmp_path / "firmware/four_bar/four_bar.c").is_file()
