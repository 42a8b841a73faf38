"""What was looked at, and how it is."""

from __future__ import annotations

OK, NOTE, WARNING, PROBLEM = "ok", "note", "warning", "problem"


class Finding:
    """`state`: ok; note, a choice that may be meant; warning, works with less; problem, does not work."""

    def __init__(self, check: str, state: str, text: str, fix: str = "") -> None:
        self.check = check
        self.state = state
        self.text = text
        self.fix = fix
