"""The package and the files beside it: examples, the plugin, Pythons, and what a start costs."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ctxhub_client.install.hook_settings import CLAUDE_EVENTS, groups_of

from tests.integrations import hook
from tests.integrations.hook import PACKAGE, ROOT, STUB, Workplace, copy_package

FOLDER = ROOT / "integrations" / "claude-code"
PLUGIN = FOLDER / "plugin"
MODULES = sorted(PACKAGE.rglob("*.py"))
MOST_MODULES, MOST_LINES = 14, 250


def read(path: Any) -> Any:
    return json.loads(path.read_text())


def hooks(command: str) -> dict[str, Any]:
    return {name: [group] for name, group in groups_of(CLAUDE_EVENTS, command).items()}


def test_the_example_is_what_the_installer_writes() -> None:
    command = 'python3 -IS "${CLAUDE_PROJECT_DIR}/.ctxhub/ctxhub.pyz" hook claude'
    assert read(FOLDER / "settings.json") == {"hooks": hooks(command)}


def test_the_marketplace_offers_the_plugin() -> None:
    [offered] = read(FOLDER / ".claude-plugin" / "marketplace.json")["plugins"]
    manifest = read(PLUGIN / ".claude-plugin" / "plugin.json")
    assert (FOLDER / offered["source"]).resolve() == PLUGIN
    assert offered["name"] == manifest["name"]
    assert manifest["version"] in (ROOT / "pyproject.toml").read_text()


def test_the_token_comes_from_the_environment() -> None:
    server = read(PLUGIN / ".mcp.json")["mcpServers"]["ctxhub"]
    assert server["headers"]["Authorization"] == "Bearer ${CTXHUB_TOKEN}"
    assert server["url"].endswith("/mcp")


def test_the_plugins_tools_and_hooks_speak_under_one_name() -> None:
    """Where no name is set and the token is not pinned."""
    server = read(PLUGIN / ".mcp.json")["mcpServers"]["ctxhub"]
    assert server["headers"]["Ctxhub-Agent"] == "${CTXHUB_AGENT:-}"
    assert server["headers"]["Ctxhub-Client"] == "claude"


@pytest.mark.parametrize("file", [*MODULES, STUB], ids=lambda file: file.stem)
def test_it_is_python_3_8(file: Path) -> None:
    ast.parse(file.read_text(), feature_version=(3, 8))


def test_it_names_nothing_that_python_3_8_does_not_have() -> None:
    ruff = shutil.which("ruff", path=str(ROOT / ".venv" / "bin")) or shutil.which("ruff")
    if ruff is None:
        pytest.skip("ruff is not installed")
    command = [ruff, "check", "--isolated", "--target-version", "py38", "--select", "E9,F", str(PACKAGE)]
    done = subprocess.run([*command, str(STUB)], capture_output=True, text=True, check=False)
    assert done.stdout == "All checks passed!\n"


def test_every_module_is_imported_by_python_3_8(tmp_path: Path) -> None:
    """What is newer in a library that they import fails there."""
    if (python := hook.older_python("3.8")) is None:
        pytest.skip("Python 3.8 is not installed")
    copy_package(tmp_path / PACKAGE.name)
    names = [module_name(file) for file in MODULES if file.stem != "__main__"]
    code = f"import importlib, sys; sys.path.insert(0, {str(tmp_path)!r})\n"
    code += "for name in sys.argv[1:]: importlib.import_module(name)"
    done = subprocess.run([python, "-IS", "-c", code, *names], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def module_name(file: Path) -> str:
    return ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10"])
def test_an_older_python_runs_it(at_stub: Workplace, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if (python := hook.older_python(version)) is None:
        pytest.skip(f"Python {version} is not installed")
    monkeypatch.setattr(hook, "PYTHON", python)
    assert at_stub.event("session_start_startup").context
    assert at_stub.run("install", "agents-md").code == 0


def test_only_the_standard_library_is_imported() -> None:
    names = {name.split(".")[0] for file in [*MODULES, STUB] for name in imported(file)}
    # Python has the first of these since 3.12, the second until 3.11.
    assert names <= {*sys.stdlib_module_names, "_sha2", "_sha256", PACKAGE.name}


def imported(file: Path) -> list[str]:
    nodes = list(ast.walk(ast.parse(file.read_text())))
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return [*plain, *(node.module or "" for node in nodes if isinstance(node, ast.ImportFrom))]


@pytest.mark.parametrize("folder", [".", "connect", "hooks", "install"])
def test_a_folder_has_few_modules_and_each_is_short(folder: str) -> None:
    lines = {file.stem: len(file.read_text().splitlines()) for file in (PACKAGE / folder).glob("*.py")}
    assert len(lines) <= MOST_MODULES + len({"__init__", "__main__"})
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


@pytest.mark.parametrize("file", MODULES, ids=module_name)
def test_each_module_says_what_it_is(file: Path) -> None:
    assert file.read_text().startswith('"""')


SLOW = {
    "argparse",
    "email",
    "hashlib",
    "http",
    "socket",
    "ssl",
    "subprocess",
    "threading",
    "typing",
    "urllib",
}


@pytest.mark.parametrize("event", hook.EVENTS)
def test_a_run_that_asks_nobody_imports_little(workplace: Workplace, event: str) -> None:
    """Only to ask the hub more is needed."""
    values = workplace.input(event).decode()
    code = f"""
import json, sys
sys.path.insert(0, {str(PACKAGE.parent)!r})
from ctxhub_client.hooks import run
run.read_stdin = lambda: json.loads({values!r})
run.run_hook("claude")
print(*sys.modules)
"""
    environment = {**workplace.environment, "CTXHUB_TOKEN": ""}
    done = subprocess.run(
        [sys.executable, "-IS", "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert not SLOW & set(done.stdout.split())


def test_little_is_imported_at_the_start() -> None:
    code = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r}); import ctxhub_client.hooks.run; "
    done = subprocess.run(
        [sys.executable, "-IS", "-c", code + "print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split())
    assert not SLOW & loaded
    assert not [name for name in loaded if name.startswith("ctxhub_client.install")]
