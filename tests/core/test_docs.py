"""The documents are correct: commands, variables, links, calls and their answers."""

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import get_commands, load_command_class

from ctxhub import env
from ctxhub.connect.archive import FOLDER
from ctxhub.core.kit.background import all_writers
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.toolbox import dispatch
from ctxhub.toolbox.actions import all_tools
from ctxhub.toolbox.tool_list import find_call

ROOT = env.ROOT
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", ".env.example")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
ANYTHING = "…"

page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


# -- Commands --------------------------------------------------------------------------------------


@page
def test_every_command_can_be_run_as_written(page: Path) -> None:
    for words in commands_in(page.read_text()):
        assert words[0] in get_commands(), f"manage.py {words[0]}"
        parser = load_command_class(get_commands()[words[0]], words[0]).create_parser("manage.py", words[0])
        parser.called_from_command_line = False  # A mistake raises CommandError instead of exiting.
        if len(words) > 1:
            parser.parse_args(words[1:])


def commands_in(text: str) -> Iterator[list[str]]:
    """`manage.py COMMAND ARGUMENTS`, up to the end of the span, the line or the sentence."""
    for found in re.finditer(r"manage\.py ([a-z][^`\n|#,;&()'\"$\[]*)", text):
        yield shlex.split(found[1].rstrip(" .:"))


def test_the_makefile_has_every_target_that_is_named() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for each in PAGES:
        named = re.findall(r"(?:`|^)make ([a-z]+[a-z-]*)", each.read_text(), re.MULTILINE)
        assert set(named) <= set(targets), each


# -- Variables, links, code ------------------------------------------------------------------------


@page
def test_every_variable_that_is_named_is_in_the_example(page: Path) -> None:
    known = set(re.findall(r"^#([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    ours_elsewhere = {"CTXHUB_TOKEN", "CTXHUB_"}
    client = "".join(file.read_text() for file in FOLDER.rglob("*.py"))
    tells_of_hooks = page.name in {"hooks.md", "quickstart.md", "CHANGELOG.md"}
    of_hooks = set(re.findall(r"\bCTXHUB_[A-Z]+", client)) if tells_of_hooks else set()
    named = set(re.findall(r"\bCTXHUB_[A-Z_]*", page.read_text()))
    assert named <= known | ours_elsewhere | of_hooks


@page
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
        assert "://" in target or (page.parent / target).exists(), target


@page
def test_every_link_to_a_heading_leads_to_one(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]*)\)", page.read_text()):
        if "://" not in target:
            linked = page.parent / target if target else page
            assert anchor in {anchor_of(heading) for _, heading in headings(linked)}, f"{target}#{anchor}"


@pytest.mark.parametrize("name", ["agents.md", "administration.md"])
def test_the_contents_are_the_headings(name: str) -> None:
    page = ROOT / "docs" / name
    contents = page.read_text().split("**Contents:**")[1].split("\n\n")[0]
    listed = re.findall(r"\[([^]]+)\]\(#([^)]+)\)", contents)
    assert listed == [(heading, anchor_of(heading)) for level, heading in headings(page) if level == 2]


def headings(page: Path) -> list[tuple[int, str]]:
    """The level and the text of each, but for those in blocks of code."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return [(len(marks), heading) for marks, heading in re.findall(r"^(#+) (.+)$", text, re.MULTILINE)]


def anchor_of(heading: str) -> str:
    """As GitHub makes it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def test_the_readme_names_every_tool_with_its_actions() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", (ROOT / "README.md").read_text(), re.MULTILINE))
    assert all_tools().keys() <= rows.keys()
    for tool in all_tools().values():
        if named := {*tool.actions} - {""}:
            assert {*re.findall(r"`([a-z_]+)`", rows[tool.name])} == named, tool.name


def test_the_licence_is_named_where_it_is_looked_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (project["license"], project["license-files"]) == ("MIT", ["LICENSE"])
    assert (ROOT / "LICENSE").read_text().startswith("MIT License\n\nCopyright (c) 2026 The ctxhub authors\n")
    assert "[MIT](LICENSE)" in (ROOT / "README.md").read_text()


@page
def test_every_json_block_is_json(page: Path) -> None:
    for block in re.findall(r"^```json\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
        json.loads(block)


# -- Calls of agents -------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True, reset_sequences=True)  # Ids are shown.
def test_the_calls_in_the_agents_guide_answer_as_shown(ada: Caller) -> None:
    blocks = re.findall(
        r"^```text\n(.*?)^```", (ROOT / "docs/agents.md").read_text(), re.MULTILINE | re.DOTALL
    )
    answer: dict[str, Any] = {}
    for line in "".join(blocks).splitlines():
        mark, content = line[:2], line[2:]
        if mark == "> ":
            tool, _, arguments = content.partition(" ")
            answer = answer_to(ada, tool, json.loads(arguments))
        else:
            assert_holds(answer, json.loads(content))


def answer_to(caller: Caller, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        answer = dispatch.call(caller, *find_call(tool, arguments))
    except CtxhubError as error:
        answer = error.body()
    for writer in all_writers():
        writer.flush()
    decoded: dict[str, Any] = json.loads(dispatch.as_text(answer))
    return decoded


def assert_holds(found: Any, shown: Any) -> None:
    """All that `shown` has is in `found`, which may have more. `…` stands for any text."""
    if isinstance(shown, dict):
        for name, value in shown.items():
            assert name in found, f"{name} in {found}"
            assert_holds(found[name], value)
    elif isinstance(shown, list):
        assert len(found) == len(shown)
        for one, other in zip(found, shown, strict=True):
            assert_holds(one, other)
    elif isinstance(shown, str):
        pattern = ".*".join(map(re.escape, shown.split(ANYTHING)))
        assert re.fullmatch(pattern, str(found), re.DOTALL), f"{found!r} is not {shown!r}"
    else:
        assert found == shown


def test_the_block_for_agents_names_only_what_exists(ada: Caller) -> None:
    text = (ROOT / "docs/agents.md").read_text()
    block = text[text.index("<!-- BEGIN CTXHUB") : text.index("<!-- END CTXHUB")]
    assert len(block.splitlines()) <= 25
    for tool, action in re.findall(r"`(decision|hub|constraint|message)` `([a-z_]+)`", block):
        assert action in answer_to(ada, tool, {"action": "help"})["actions"]
