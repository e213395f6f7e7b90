"""`largeea review`: what it refuses before it serves anything."""

from __future__ import annotations

import sys

import pytest

from largeea.cli import run


def test_a_folder_that_is_no_run(tmp_path, capsys):
    pytest.importorskip("starlette", reason="the web extra is not installed")
    assert run(["review", str(tmp_path), "--no-open"]) == 3
    assert "is not a run folder" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [["--author", " "], ["--author", "x" * 201], ["--port", "70000"]])
def test_wrong_options(tmp_path, wrong):
    assert run(["review", str(tmp_path), "--no-open", *wrong]) == 2


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_a_missing_extra_is_named(tmp_path, monkeypatch, capsys, package):
    monkeypatch.setitem(sys.modules, package, None)
    assert run(["review", str(tmp_path), "--no-open"]) == 2
    assert "pip install 'largeea[web]'" in capsys.readouterr().err
