"""The files beside the hook: examples, the plugin, and what Python and its start cost."""

import ast
import json
import shutil
import subprocess
import sys
from typing import Any

import pytest

from integrations.ctxhub_hook import CLAUDE_EVENTS, groups_of
from tests.integrations import hook
from tests.integrations.hook import HOOK, ROOT, Workplace

FOLDER = ROOT / "integrations" / "claude-code"
PLUGIN = FOLDER / "plugin"


def read(path: Any) -> Any:
    return json.loads(path.read_text())


def hooks(command: str) -> dict[str, Any]:
    return {name: [group] for name, group in groups_of(CLAUDE_EVENTS, command).items()}


def test_the_plugin_has_the_same_file() -> None:
    assert (PLUGIN / "ctxhub_hook.py").read_bytes() == HOOK.read_bytes(), "copy it"


def test_the_plugin_runs_the_file_on_every_event() -> None:
    command = 'python3 -IS "${CLAUDE_PLUGIN_ROOT}/ctxhub_hook.py"'
    assert read(PLUGIN / "hooks" / "hooks.json")["hooks"] == hooks(command)


def test_the_example_is_what_the_installer_writes() -> None:
    command = 'python3 -IS "${CLAUDE_PROJECT_DIR}/.ctxhub/ctxhub_hook.py"'
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


def test_it_is_python_3_8() -> None:
    ast.parse(HOOK.read_text(), feature_version=(3, 8))
    ruff = shutil.which("ruff", path=str(ROOT / ".venv" / "bin")) or shutil.which("ruff")
    if ruff is None:
        pytest.skip("ruff is not installed")
    command = [ruff, "check", "--isolated", "--target-version", "py38", "--select", "E9,F", str(HOOK)]
    assert (
        subprocess.run(command, capture_output=True, text=True, check=False).stdout == "All checks passed!\n"
    )


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10"])
def test_an_older_python_runs_it(at_stub: Workplace, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if (python := hook.older_python(version)) is None:
        pytest.skip(f"Python {version} is not installed")
    monkeypatch.setattr(hook, "PYTHON", python)
    assert at_stub.event("session_start_startup").context
    assert at_stub.run("install", "agents-md").code == 0


def test_only_the_standard_library_is_imported() -> None:
    tree = ast.parse(HOOK.read_text())
    names = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert names <= sys.stdlib_module_names


def test_little_is_imported_at_the_start() -> None:
    code = f"import sys; sys.path.insert(0, {str(HOOK.parent)!r}); import ctxhub_hook; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-IS", "-c", code], capture_output=True, text=True, check=True)
    slow = {
        "http",
        "urllib",
        "socket",
        "ssl",
        "email",
        "subprocess",
        "argparse",
        "hashlib",
        "typing",
        "threading",
    }
    assert not slow & set(done.stdout.split())
