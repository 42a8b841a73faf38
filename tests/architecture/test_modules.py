"""The tree tells the domain: what agents can name has a family, and every family has the same rooms."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
APPS = ("memory", "messaging", "tracking", "sessions")
FAMILIES = (
    *("memory/decisions", "memory/constraints", "memory/memories", "memory/scratchpads"),
    *("messaging", "tracking"),
)
ROOMS = ("models", "selectors", "services", "history", "tools", "api", "admin")
DECISIONS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs/decisions").glob("*.md"))
SUBJECTS = ("kit", "text", "accounts", "vocabulary", "events", "search", "toolbox", "hub", "api", "admin")


def modules(room: Path) -> set[str]:
    """The modules of a room, which is a package or one module named as its family."""
    if room.with_suffix(".py").exists():
        return {room.parent.name}
    return {file.stem for file in room.glob("*.py") if file.stem != "__init__"}


def nouns() -> list[tuple[str, str]]:
    """What agents can name: each module of tools, with its family."""
    return [(family, noun) for family in FAMILIES for noun in sorted(modules(ROOT / family / "tools"))]


def test_there_are_nouns() -> None:
    assert ("memory/decisions", "templates") in nouns()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_has_every_room(family: str) -> None:
    assert [room for room in ROOMS if not modules(ROOT / family / room)] == []


@pytest.mark.parametrize("family", FAMILIES)
def test_a_package_says_what_it_is(family: str) -> None:
    assert (ROOT / family / "__init__.py").read_text().startswith('"""')


@pytest.mark.parametrize("subject", SUBJECTS)
def test_core_is_arranged_by_subject(subject: str) -> None:
    assert (ROOT / "ctxhub/core" / subject / "__init__.py").read_text().startswith('"""')


def test_core_has_no_other_rooms() -> None:
    core = {folder.parent.name for folder in (ROOT / "ctxhub/core").glob("*/__init__.py")}
    assert core == {*SUBJECTS, "migrations", "templatetags"}


@pytest.mark.parametrize(("family", "noun"), nouns())
def test_a_noun_has_its_module_in_every_face_and_service(family: str, noun: str) -> None:
    rooms = ("services", "selectors", "api", "tools", "admin")
    assert [room for room in rooms if noun not in modules(ROOT / family / room)] == []


@pytest.mark.parametrize(("family", "noun"), nouns())
def test_a_noun_has_its_tests(family: str, noun: str) -> None:
    app = family.partition("/")[0]
    faces = {
        file.stem.removeprefix(f"test_{noun}_") for file in (ROOT / "tests" / app).glob(f"test_{noun}_*.py")
    }
    assert faces >= {"service", "mcp"}


@pytest.mark.parametrize("app", [*APPS, "ctxhub"])
def test_every_module_says_in_one_line_what_lives_in_it(app: str) -> None:
    silent = [
        str(file.relative_to(ROOT))
        for file in (ROOT / app).rglob("*.py")
        if file.stem not in ("__init__", "apps", *commands()) and "migrations" not in file.parts
        if not file.read_text().startswith('"""')
    ]
    assert silent == []


def commands() -> set[str]:
    """A command says it in its `help`."""
    return {file.stem for file in ROOT.glob("*/management/commands/*.py")}


@pytest.mark.parametrize("document", ["docs/architecture.md", "CONTRIBUTING.md", *DECISIONS])
def test_a_document_names_what_is_there(document: str) -> None:
    """Paths in backticks, from the root or from ctxhub/; those of a noun to be made, and patterns, aside."""
    named = re.findall(r"`([a-z_]+/[\w/]*(?:\.py|\.md|/))`", (ROOT / document).read_text())
    missing = [path for path in named if not (ROOT / path).exists() and not (ROOT / "ctxhub" / path).exists()]
    assert [path for path in missing if "widget" not in path] == []
