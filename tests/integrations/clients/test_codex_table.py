"""The table in Codex' configuration, also where Python cannot read TOML."""

import json
import subprocess
import tomllib
from pathlib import Path

import pytest
from ctxhub_client.connect import toml_part
from ctxhub_client.connect.toml_part import TablePart
from ctxhub_client.install.files import Refused
from hypothesis import given
from hypothesis import strategies as st

from tests.integrations import hook
from tests.integrations.clients.homes import CASES

ENTRY = {
    "command": "/usr/bin/python3",
    "args": ["é \" \\ \x7f\n'", "mcp"],
    "env": {"A B": "ctxhub", "c": "1"},
}
BODY = """\
# By hand: no
# [mcp_servers.ctxhub]
model = "x" # the other

[mcp_servers.github]
args = [
  "a",
]

# About what follows.
[mcp_servers."ctxhub-other"]
url = "http://h"
"""
FORMS = [BODY, BODY.rstrip("\n"), BODY.replace("\n", "\r\n"), "", "\n", "a = 1", "[[list]]\nb = 1\n"]


@pytest.fixture(params=["tomllib", "no tomllib"])
def part(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> TablePart:
    if request.param == "no tomllib":
        monkeypatch.setattr(toml_part, "read_toml", lambda _: None)
    return TablePart(ENTRY)


@pytest.mark.parametrize("text", FORMS)
def test_a_table_is_added_and_taken_out(part: TablePart, text: str) -> None:
    noted = part.note(text)
    new = part.put_into(text)
    assert new.startswith(text)
    assert tomllib.loads(new)["mcp_servers"]["ctxhub"] == ENTRY
    assert (part.is_in(new), part.is_in(text)) == (True, False)
    assert part.take_out_of(new, noted) == text


@pytest.mark.parametrize("text", FORMS)
def test_it_is_taken_out_of_what_was_written_anew(part: TablePart, text: str) -> None:
    """As Codex does: other line ends, and more in the file and in the table."""
    noted = part.note(text)
    new = (
        part.put_into(text).replace("\r\n", "\n") + 'tool_timeout_sec = 9\n\n# Theirs.\n[theirs]\nkey = "v"\n'
    )
    left = part.take_out_of(new, noted)
    assert tomllib.loads(left) == {**tomllib.loads(text), "theirs": {"key": "v"}}
    assert "# Theirs." in left
    assert "timeout" not in left


@given(st.text(st.sampled_from("[]{}\"'=.#\n ab"), max_size=40))
def test_a_text_stays_toml_or_is_refused(text: str) -> None:
    part = TablePart(ENTRY)
    try:
        new = part.put_into(text)
    except Refused:
        return
    assert tomllib.loads(new) == {**tomllib.loads(text), "mcp_servers": {"ctxhub": ENTRY}}
    assert part.take_out_of(new, part.note(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        *(
            '[mcp_servers.ctxhub]\nurl = "x"\n',
            '[ mcp_servers . "ctxhub" ]\n',
            "[mcp_servers.ctxhub.env]\nA = '1'\n",
        ),
        *("mcp_servers = {}\n", 'mcp_servers.ctxhub.url = "x"\n', '[mcp_servers]\nctxhub = {url = "x"}\n'),
        *('["mcp_servers".github]\nurl = "x"\nmcp_servers = 1\n[mcp_servers.ctxhub]\n',),
    ],
)
def test_what_has_the_server_in_another_form_is_refused(part: TablePart, text: str) -> None:
    with pytest.raises(Refused):
        part.put_into(text)


def test_strings_of_several_lines_need_a_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'a = """\n[mcp_servers.ctxhub]\n"""\n'
    assert TablePart(ENTRY).put_into(text).startswith(text)
    monkeypatch.setattr(toml_part, "read_toml", lambda _: None)
    with pytest.raises(Refused, match=r"before 3\.11"):
        TablePart(ENTRY).put_into(text)


def test_what_is_no_toml_is_refused() -> None:
    for change in (TablePart(ENTRY).put_into, TablePart(ENTRY).is_in):
        with pytest.raises(Refused, match="not TOML"):
            change("a = [")


SCRIPT = """
import json, os, sys
from ctxhub_client.connect.clients import connect_client, disconnect_client
from ctxhub_client.connect.line import Line, Scope

def files():
    found = {}
    for folder, _, names in os.walk(sys.argv[1]):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[path] = file.read()
    return found

for client, scope in json.loads(sys.argv[2]):
    where = Scope(scope == "user", os.getcwd())
    line = Line(["/usr/bin/python3", "-IS", "/opt/ctxhub.py"], ["--agent", "ada"])
    before = files()
    first = connect_client(client, line, where)
    assert first.is_changed and first.is_whole, first.lines
    assert not connect_client(client, line, where).is_changed
    disconnect_client(client, where)
    assert files() == before, client
"""


@pytest.mark.parametrize("version", ["3.8", "3.9"])
def test_all_of_it_runs_on_an_older_python(version: str, tmp_path: Path) -> None:
    if (python := hook.older_python(version)) is None:
        pytest.skip(f"Python {version} is not installed")
    repository = tmp_path / "repo"
    repository.mkdir()
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    package = hook.program(python, hook.AS_SHIPPED).parent
    run = subprocess.run(
        [python, "-c", SCRIPT, str(tmp_path), json.dumps(CASES)],
        cwd=repository,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(package.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
