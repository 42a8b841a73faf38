"""Asks the person at the terminal."""

import sys
from collections.abc import Callable


def asker(*, may_ask: bool) -> Callable[[str], bool]:
    """A function that asks a question, and says whether the answer was yes: no, where nobody can be asked."""

    def ask(question: str) -> bool:
        if not may_ask or not sys.stdin or not sys.stdin.isatty():
            return False
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")

    return ask
