"""The same noun names the module in every layer: find one file and you have found all."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
APPS = {"memory": "memory", "messaging": "messaging", "tracking": "tracking", "sessions": "sessions"}
LAYERS = ("services", "selectors", "api", "tools", "admin")


def modules(folder: Path) -> set[str]:
    return {file.stem for file in folder.glob("*.py") if file.stem != "__init__"}


def nouns() -> list[tuple[str, str]]:
    """What agents can name: each module of tools, with its app."""
    return [(app, noun) for app in APPS for noun in sorted(modules(ROOT / app / "tools"))]


def singular(noun: str) -> str:
    return noun.removesuffix("ies") + "y" if noun.endswith("ies") else noun.removesuffix("s")


def test_there_are_nouns() -> None:
    assert ("memory", "decisions") in nouns()


@pytest.mark.parametrize(("app", "noun"), nouns())
def test_a_noun_has_its_module_in_every_layer(app: str, noun: str) -> None:
    missing = [layer for layer in LAYERS if noun not in modules(ROOT / app / layer)]
    assert missing == []
    assert singular(noun) in modules(ROOT / app / "models")


@pytest.mark.parametrize(("app", "noun"), nouns())
def test_a_noun_has_its_tests(app: str, noun: str) -> None:
    faces = {
        file.stem.removeprefix(f"test_{noun}_") for file in (ROOT / "tests" / app).glob(f"test_{noun}_*.py")
    }
    assert faces >= {"service", "mcp"}


@pytest.mark.parametrize("noun", sorted(modules(ROOT / "ctxhub/core/models") - {"base", "priority"}))
def test_a_noun_of_core_has_a_service(noun: str) -> None:
    services = modules(ROOT / "ctxhub/core/services")
    assert {noun, f"{noun}s", noun.replace("y", "ies")} & services


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
    return {stem for folder in ROOT.glob("*/management/commands") for stem in modules(folder)}
