"""ctxhub: shared context for AI coding agents and the people who run them."""

import re
from pathlib import Path


def _version() -> str:
    """That of pyproject.toml: the project runs from its root, and what pip knows of it may be older."""
    text = (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'(?m)^version = "(\d+\.\d+\.\d+)"$', text)
    assert found, 'pyproject.toml has no version = "X.Y.Z"'
    return found[1]


__version__ = _version()
