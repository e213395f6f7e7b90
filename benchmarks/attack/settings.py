"""Every setting with the extremes of its range, far beyond it, and of the wrong type.

A value is accepted, and the alignment of a tiny pair ends with an answer; or it is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.attack.process import call, fall, run
from benchmarks.attack.workshop import Attempt, Workshop, spread, write_pair

from largeea.config import Config, load
from largeea.errors import LargeEAError

VALUES = (
    *("0", "1", "-1", "1e-300", "1e300", "-1e300", "nan", "inf", "-inf", "true", '"text"', "[]", "{}"),
    *("9" * 30, "9" * 5000, "[" * 5000, '"' + "x" * 100_000 + '"', "", "[[1]]", "1979-05-27", '"\\u0000"'),
)
KEYS = ("", ".", "..", "names", "names.", "names.top_k.x", ".".join("a" * 3000), "ä", "without.x.y")


def attempts(workshop: Workshop, most: int | None) -> Iterator[Attempt]:
    workshop.clear()
    write_pair()
    workshop.save("pair")
    accepted = []
    for key, values in all_settings():
        outcome = call(lambda key=key, values=values: check(key, values))
        for line in outcome.out.splitlines():
            number, verdict = line.split("\t", 1)
            setting = f"{key}={values[int(number)]}"
            if verdict == "accepted":
                accepted.append(setting)
            is_fine = verdict in ("accepted", "refused")
            yield "setting checked", None if is_fine else f"{setting[:60]}: {verdict}"
        if outcome.code:
            yield "setting checked", f"{key[:60]}: {fall(outcome, (0,))}"
    for number in spread(len(accepted), None if most is None else 3 * most):
        workshop.restore("pair")
        setting = accepted[number - 1]
        model = ["--set", "structure.model=propagation"] if setting.startswith(("struc", "part")) else []
        outcome = run(["align", "a.nt", "b.nt", "-o", "run", "-q", *model, "--set", setting])
        yield "alignment with an extreme setting", (wrong := fall(outcome)) and f"{setting[:60]}: {wrong}"


def check(key: str, values: list[str]) -> int:
    """Print for the number of each value whether it is accepted, refused by name, or what fell."""
    first = key.strip(".").split(".")[0]
    for number, value in enumerate(values):
        try:
            load(settings=(f"{key}={value}",))
            verdict = "accepted"
        except LargeEAError as error:
            verdict = "refused" if first in str(error) else f"refused without its name: {error}"
        except Exception as error:
            verdict = f"{type(error).__name__}: {error}"
        print(number, verdict.replace("\n", " "), sep="\t", flush=True)
    return 0


def all_settings() -> Iterator[tuple[str, list[str]]]:
    """Yield every setting with values for it, then keys that name no setting."""
    for key, field in all_fields():
        yield key, [*VALUES, *bounds(field)]
    for key in KEYS:
        yield key, ["1"]


def all_fields() -> Iterator[tuple[str, Any]]:
    """Yield every setting by its full name."""
    for section, field in Config.model_fields.items():
        parts: dict[str, Any] = getattr(field.annotation, "model_fields", {})
        for name, part in parts.items() or [("", field)]:
            yield f"{section}.{name}".rstrip("."), part


def bounds(field: Any) -> Iterator[str]:
    """Yield the limits of a setting's range, and values just beyond them."""
    for limit in field.metadata:
        for name in ("ge", "gt", "le", "lt"):
            if (value := getattr(limit, name, None)) is not None:
                yield from map(str, (value, value - 1, value + 1))
