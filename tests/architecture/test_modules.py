"""Rules for the module tree: each family has the same layers, and each noun a module in several of them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
APPS = ("memory", "messaging", "tracking", "sessions")
FAMILIES = (
    *("memory/decisions", "memory/constraints", "memory/memories", "memory/scratchpads"),
    *("messaging", "tracking"),
)
LAYERS = ("models", "selectors", "services", "history", "tools", "api", "admin")
DECISIONS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs/decisions").glob("*.md"))
SUBJECTS = (
    "bin",
    "kit",
    "text",
    "accounts",
    "vocabulary",
    "events",
    "search",
    "paths",
    "refusals",
    "use",
    "toolbox",
    "hub",
    "transfer",
    "api",
    "admin",
    "webhooks",
    "records",
)


def modules(layer: Path) -> set[str]:
    """The modules of a layer, which is a package or a single module, then named after its family."""
    if layer.with_suffix(".py").exists():
        return {layer.parent.name}
    return {file.stem for file in layer.glob("*.py") if file.stem != "__init__"}


def nouns() -> list[tuple[str, str]]:
    """Each noun: a module of tools, with its family."""
    return [(family, noun) for family in FAMILIES for noun in sorted(modules(ROOT / family / "tools"))]


def test_there_are_nouns() -> None:
    assert ("memory/decisions", "templates") in nouns()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_has_every_layer(family: str) -> None:
    assert [layer for layer in LAYERS if not modules(ROOT / family / layer)] == []


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_package_has_a_docstring(family: str) -> None:
    assert (ROOT / family / "__init__.py").read_text().startswith('"""')


@pytest.mark.parametrize("subject", SUBJECTS)
def test_each_subject_of_core_has_a_docstring(subject: str) -> None:
    assert (ROOT / "ctxhub/core" / subject / "__init__.py").read_text().startswith('"""')


def test_core_has_no_other_packages() -> None:
    core = {folder.parent.name for folder in (ROOT / "ctxhub/core").glob("*/__init__.py")}
    assert core == {*SUBJECTS, "migrations", "templatetags"}


@pytest.mark.parametrize(("family", "noun"), nouns())
def test_a_noun_has_a_module_in_every_layer(family: str, noun: str) -> None:
    layers = ("services", "selectors", "api", "tools", "admin")
    assert [layer for layer in layers if noun not in modules(ROOT / family / layer)] == []


@pytest.mark.parametrize(("family", "noun"), nouns())
def test_a_noun_has_tests_of_its_service_and_mcp(family: str, noun: str) -> None:
    app = family.partition("/")[0]
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
