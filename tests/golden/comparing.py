"""Golden files: recorded answers and contents of tables, which tests compare with the present ones."""

import os
from difflib import unified_diff
from itertools import islice
from pathlib import Path

FILES = Path(__file__).parent / "files"
VARIABLE = "GOLDEN"
WRITE = "write"
SHOWN_LINES = 60


def compare(name: str, text: str) -> None:
    """Fail with a diff unless the golden file `name` holds `text`; with GOLDEN=write, store it there."""
    file = FILES / name
    if os.environ.get(VARIABLE) == WRITE:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return
    assert file.exists(), f"There is no golden file {name}. {how_to_write()}"
    golden = file.read_text(encoding="utf-8")
    # Not `==` in an assert: pytest would explain the difference of two long texts for minutes.
    is_same = golden == text
    assert is_same, f"{name} has changed. {how_to_write()}\n{difference(golden, text)}"


def how_to_write() -> str:
    return f"To store what there is now: {VARIABLE}={WRITE} make test ARGS=tests/golden"


def difference(golden: str, text: str) -> str:
    """At most 60 lines of a unified diff."""
    lines = unified_diff(golden.splitlines(), text.splitlines(), "golden", "now", lineterm="", n=1)
    shown = list(islice(lines, SHOWN_LINES + 1))
    rest = ["..."] if len(shown) > SHOWN_LINES else []
    return "\n".join([*shown[:SHOWN_LINES], *rest])
