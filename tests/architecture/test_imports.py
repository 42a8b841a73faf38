"""No module needs, directly or through others, one that needs it: not even for types or in a function."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ("ctxhub", "memory", "messaging", "tracking", "sessions", "benchmarks")


def test_imports_run_in_no_circle() -> None:
    circle: list[str] = []
    try:
        TopologicalSorter(imports(SOURCE)).prepare()
    except CycleError as error:
        circle = error.args[1]
    assert circle == []


def imports(packages: tuple[str, ...]) -> Mapping[str, set[str]]:
    """The modules of packages, and which of them each one imports."""
    files = {_name(file): file for package in packages for file in (ROOT / package).rglob("*.py")}
    return {name: set(_imported(file)) & (files.keys() - {name}) for name, file in files.items()}


def _name(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(file: Path) -> Iterator[str]:
    """What a file imports, by full names; of `from a import b` both a and a.b, which may be a module."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
            yield node.module
