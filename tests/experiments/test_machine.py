from __future__ import annotations

from largeea import __version__
from largeea.experiments.machine import describe, in_words


def test_this_machine() -> None:
    here = describe()
    assert here["release"] == __version__
    assert str(here["processor"]).endswith(" cores")
    assert float(here["load"]) >= 0
    assert all(here[fact] for fact in ("memory", "gpu", "python", "commit"))


def test_figures_of_several_days_say_so() -> None:
    """What is kept from an older commit must not pass for the newest one's."""
    first = describe() | {"commit": "aaa", "load": 0.5}
    words = in_words([first, first | {"load": 3.25}, first | {"commit": "bbb", "load": 2.0}])
    assert "commit aaa and bbb;" in words
    assert "load while measuring 0.5 to 3.2." in words
    assert words.count(str(first["processor"])) == 1
