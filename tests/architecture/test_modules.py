"""Rules for the module tree: a noun is a flat folder of a few modules, with the same names in each."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
APPS = ("memory", "messaging", "tracking", "sessions")
NOUNS = (
    *("memory/constraints", "memory/decisions", "memory/templates"),
    *("memory/memories", "memory/contexts", "memory/relationships"),
    *("memory/scratchpads", "memory/snapshots", "sessions/sittings"),
    *("messaging/messages", "tracking/changes", "tracking/leases"),
)
TESTED_BY_FACE = [folder for folder in NOUNS if folder.startswith("memory/")]
# Nouns without tools of their own, and what several nouns or actions share.
OTHERS = (
    *(
        "memory/workflows",
        "tracking/files",
        "tracking/board",
        "sessions/accesses",
        "sessions/windows",
        "sessions/prioritize",
    ),
    *("sessions/briefs", "sessions/checks", "sessions/nudges", "sessions/given"),
    *("memory/statistics", "memory/suggestions", "memory/capture", "memory/grep", "memory/predictions"),
    "messaging/questions",
)
MODULES = ("models", "rows", "queries", "history", "services", "tools", "api", "admin")
MOST_MODULES, MOST_LINES = 14, 400
DECISIONS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs/decisions").glob("*.md"))
PACKAGES = ("connect", "console", "core", "importers", "mcp", "rest", "toolbox")
MOST_FOLDERS = 3
SUBJECTS = (
    "bin",
    "kit",
    "text",
    "accounts",
    "enrolment",
    "vocabulary",
    "events",
    "search",
    "paths",
    "refusals",
    "use",
    "hub",
    "transfer",
    "webhooks",
    "records",
    "leavers",
)


def modules(folder: str) -> dict[str, int]:
    """The modules of a folder with their numbers of lines."""
    files = [file for file in (ROOT / folder).glob("*.py") if file.stem != "__init__"]
    return {file.stem: len(file.read_text().splitlines()) for file in files}


@pytest.mark.parametrize("folder", [*NOUNS, *OTHERS])
def test_a_noun_is_a_flat_folder(folder: str) -> None:
    assert not list((ROOT / folder).glob("*/*.py"))
    assert len(modules(folder)) <= MOST_MODULES
    assert {name: lines for name, lines in modules(folder).items() if lines > MOST_LINES} == {}


@pytest.mark.parametrize("app", APPS)
def test_an_app_has_no_other_folders(app: str) -> None:
    folders = {str(file.parent.relative_to(ROOT)) for file in (ROOT / app).rglob("*.py")}
    named = {folder for folder in (*NOUNS, *OTHERS) if folder.startswith(f"{app}/")}
    assert folders == {app, f"{app}/migrations", *named}


@pytest.mark.parametrize("folder", NOUNS)
def test_a_noun_has_the_modules_that_all_have(folder: str) -> None:
    assert [name for name in MODULES if name not in modules(folder)] == []


@pytest.mark.parametrize("folder", [*NOUNS, *OTHERS])
def test_a_noun_has_a_docstring(folder: str) -> None:
    assert (ROOT / folder / "__init__.py").read_text().startswith('"""')


@pytest.mark.parametrize("subject", SUBJECTS)
def test_each_subject_of_core_has_a_docstring(subject: str) -> None:
    assert (ROOT / "ctxhub/core" / subject / "__init__.py").read_text().startswith('"""')


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_has_a_docstring(package: str) -> None:
    assert (ROOT / "ctxhub" / package / "__init__.py").read_text().startswith('"""')


@pytest.mark.parametrize("app", [*APPS, "ctxhub/core", "ctxhub/console", "ctxhub/rest", "ctxhub/toolbox"])
def test_no_module_is_deep(app: str) -> None:
    folders = {file.relative_to(ROOT / app).parent for file in (ROOT / app).rglob("*.py")}
    assert [str(folder) for folder in folders if len(folder.parts) >= MOST_FOLDERS] == []


def test_core_has_no_other_packages() -> None:
    core = {folder.parent.name for folder in (ROOT / "ctxhub/core").glob("*/__init__.py")}
    assert core == {*SUBJECTS, "migrations", "templatetags"}


@pytest.mark.parametrize("folder", TESTED_BY_FACE)
def test_a_noun_has_tests_of_its_service_and_mcp(folder: str) -> None:
    app, _, noun = folder.partition("/")
    suffixes = {
        file.stem.removeprefix(f"test_{noun}_") for file in (ROOT / "tests" / app).glob(f"test_{noun}_*.py")
    }
    assert suffixes >= {"service", "mcp"}


@pytest.mark.parametrize("app", [*APPS, "ctxhub"])
def test_every_module_has_a_docstring(app: str) -> None:
    undocumented = [
        str(file.relative_to(ROOT))
        for file in (ROOT / app).rglob("*.py")
        if file.stem not in ("__init__", "apps", *commands()) and "migrations" not in file.parts
        if not file.read_text().startswith('"""')
    ]
    assert undocumented == []


def commands() -> set[str]:
    """Names of management commands, which are described by their `help`."""
    return {file.stem for file in ROOT.glob("*/management/commands/*.py")}


@pytest.mark.parametrize("document", ["docs/architecture.md", "CONTRIBUTING.md", *DECISIONS])
def test_paths_in_documents_exist(document: str) -> None:
    """Paths in backticks, from the root or from ctxhub/, except patterns and the example noun widget."""
    named = re.findall(r"`([a-z_]+/[\w/]*(?:\.py|\.md|/))`", (ROOT / document).read_text())
    missing = [path for path in named if not (ROOT / path).exists() and not (ROOT / "ctxhub" / path).exists()]
    assert [path for path in missing if "widget" not in path] == []
