"""No module reads settings while it is loaded: later there may be others, as in tests/preloaded.py."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
# They begin a process that serves. A foreign key to the table of people is the same everywhere.
READERS = {"ctxhub/settings.py", "ctxhub/asgi.py", "ctxhub/wsgi.py"}
SAME_EVERYWHERE = {"settings.AUTH_USER_MODEL"}
READ_LATE = {"settings", "connection"}


def test_no_module_reads_settings_while_it_is_loaded() -> None:
    found = {f"{name}: {read}" for name, tree in modules() if name not in READERS for read in reads(tree)}
    assert found == set()


def modules() -> Iterator[tuple[str, ast.Module]]:
    for app in ("ctxhub", "memory", "messaging", "tracking", "sessions"):
        for file in sorted((ROOT / app).rglob("*.py")):
            yield str(file.relative_to(ROOT)), ast.parse(file.read_text())


def reads(node: ast.AST) -> Iterator[str]:
    """What is read of settings, the connection or the environment outside of functions."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.Lambda):
            continue
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            for default in (*each.args.defaults, *each.args.kw_defaults, *each.decorator_list):
                if default is not None:
                    yield from reads(ast.Expr(default))
            continue
        if isinstance(each, ast.Attribute) and _is_read(each) and ast.unparse(each) not in SAME_EVERYWHERE:
            yield ast.unparse(each)
        yield from reads(each)


def _is_read(node: ast.Attribute) -> bool:
    of_settings = isinstance(node.value, ast.Name) and node.value.id in READ_LATE
    return of_settings or ast.unparse(node) in ("os.environ", "os.getenv")
