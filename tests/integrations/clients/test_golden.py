"""What connecting writes for each client, as files: into an empty home, and into one with files of others.

GOLDEN=write stores what there is now.
"""

import os
import shutil

import pytest

from tests.golden.comparing import VARIABLE, WRITE, difference
from tests.integrations.clients.homes import CASES, GOLDEN, Home, dotted, golden_files


@pytest.mark.parametrize(("client", "scope"), CASES)
@pytest.mark.parametrize("before", ["empty", "before"])
def test_what_is_written(home: Home, client: str, scope: str, before: str) -> None:
    case = f"{client}-{scope}"
    if before == "before":
        home.fill(f"{case}/before")
    home.connect(client, scope)
    compare(f"{case}/{'after' if before == 'before' else 'alone'}", home.files())


@pytest.mark.parametrize("client", ["claude-code", "codex", "cursor", "vscode", "copilot-cli", "opencode"])
def test_what_is_written_for_http(home: Home, client: str) -> None:
    home.connect(client, "user", home.line(client, url="https://hub.example.com/mcp"), rules=False)
    hooks = ("settings.json", "hooks.json")
    compare(
        f"{client}-user/http",
        {name: content for name, content in home.files().items() if not name.endswith(hooks)},
    )


def compare(name: str, files: dict[str, bytes]) -> None:
    folder = GOLDEN / name
    if os.environ.get(VARIABLE) == WRITE:
        shutil.rmtree(folder, ignore_errors=True)
        for path, content in files.items():
            file = folder / dotted(path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    golden = golden_files(folder)
    assert files.keys() == golden.keys()
    for path, content in files.items():
        is_same = content == golden[path]
        assert is_same, f"{name}/{path}\n{difference(repr_lines(golden[path]), repr_lines(content))}"


def repr_lines(content: bytes) -> str:
    """With line ends and marks that can be seen."""
    return "\n".join(repr(line) for line in content.splitlines(keepends=True))
