"""What an app plugs into is read in its `nouns.py` and `admin.py`: no other module fills a hook of others."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("ctxhub", "memory", "messaging", "tracking", "sessions")
# `exports` is loaded by the first export alone.
REGISTERING = {
    *(f"{app}/{name}.py" for app in PACKAGES[1:] for name in ("admin", "exports", "nouns")),
    *("ctxhub/core/admin.py", "ctxhub/core/nouns.py", "ctxhub/core/transfer/exports.py"),
    "ctxhub/asgi.py",
}
# A tool is declared above its actions; what a module remembers is forgotten by the line below it.
BESIDE = ("tool(", "when_replaced.")
INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def test_hooks_are_filled_in_the_modules_that_register() -> None:
    found = {
        str(file.relative_to(ROOT)): lines
        for package in PACKAGES
        for file in (ROOT / package).rglob("*.py")
        if (lines := [line for line in filled(file.read_text()) if not line.startswith(BESIDE)])
    }
    assert {file: lines for file, lines in found.items() if file not in REGISTERING} == {}
    assert REGISTERING - found.keys() == set()


@pytest.mark.parametrize(
    "line",
    [
        "sources.append(mine)",
        "sources += [mine]",
        "panels.sources += [mine]",
        "panels.by_kind['mine'] = mine",
        "panels.form = mine",
        "register(mine)",
        "for each in (1, 2):\n    register(each)",
    ],
)
def test_a_filled_hook_is_found(line: str) -> None:
    assert filled(f"from ctxhub.console import panels, register, sources\n{line}") == [
        line.split("\n    ")[-1]
    ]


@pytest.mark.parametrize(
    "line",
    ["def ready():\n    register(mine)", "mine = register(1)", "own = []\nown.append(1)", "os.umask(0)"],
)
def test_other_lines_fill_no_hook(line: str) -> None:
    assert filled(f"import os\nfrom ctxhub.console import register\n{line}") == []


def filled(source: str) -> list[str]:
    """The statements of a module, outside functions, that change what it imports of the hub, or call it."""
    tree = ast.parse(source)
    imported = set(_imported(tree))
    return [ast.unparse(each) for each in _statements(tree) if imported.intersection(_changed(each))]


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in PACKAGES:
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names if alias.name.startswith(PACKAGES))


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.stmt) and not isinstance(each, INNER):
            yield each
            yield from _statements(each)


def _changed(statement: ast.stmt) -> Iterator[str]:
    """The names at which the expressions begin that a statement calls or assigns to."""
    match statement:
        case ast.Expr(ast.Call(called)):
            yield _root(called)
        case ast.AugAssign(target):
            yield _root(target)
        case ast.Assign(targets):
            yield from (_root(each) for each in targets if not isinstance(each, ast.Name))


def _root(expression: ast.AST) -> str:
    while isinstance(expression, ast.Attribute | ast.Subscript | ast.Call):
        expression = expression.func if isinstance(expression, ast.Call) else expression.value
    return expression.id if isinstance(expression, ast.Name) else ""
