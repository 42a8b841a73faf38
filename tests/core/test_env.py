"""Variables are read typed, or refused; `.env.example` lists them all."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxhub import env

EXAMPLE = env.ROOT / ".env.example"
STRONG = "0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEF"


def test_a_variable_that_is_not_set_has_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXHUB_DEBUG", " ")
    assert env.flag("CTXHUB_DEBUG", default=True) is True


@pytest.mark.parametrize(("said", "meant"), [("yes", True), ("On", True), ("0", False), ("FALSE", False)])
def test_a_flag_is_a_word(monkeypatch: pytest.MonkeyPatch, said: str, meant: bool) -> None:
    monkeypatch.setenv("CTXHUB_DEBUG", said)
    assert env.flag("CTXHUB_DEBUG", default=not meant) is meant


def test_a_flag_that_is_neither_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXHUB_DEBUG", "perhaps")
    with pytest.raises(env.BadVariable, match="CTXHUB_DEBUG='perhaps' cannot be used: say true or false"):
        env.flag("CTXHUB_DEBUG", default=False)


@pytest.mark.parametrize("said", ["many", "-1", "501"])
def test_a_number_out_of_bounds_is_refused(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv("CTXHUB_RATE_LIMIT", said)
    with pytest.raises(env.BadVariable, match="CTXHUB_RATE_LIMIT"):
        env.number("CTXHUB_RATE_LIMIT", 12, at_most=500)


def test_a_choice_is_one_of_its_words_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXHUB_MODE", "API")
    assert env.choice("CTXHUB_MODE", ("both", "api"), "both") == "api"
    monkeypatch.setenv("CTXHUB_MODE", "apii")
    with pytest.raises(env.BadVariable, match="CTXHUB_MODE='apii' cannot be used: use one of both, api"):
        env.choice("CTXHUB_MODE", ("both", "api"), "both")


def test_names_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXHUB_ALLOWED_HOSTS", "a.example , b.example,")
    assert env.names("CTXHUB_ALLOWED_HOSTS") == ["a.example", "b.example"]


def test_a_relative_folder_lies_in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXHUB_VAR_DIR", "elsewhere")
    assert env.folder("CTXHUB_VAR_DIR", Path("/")) == env.ROOT / "elsewhere"


def test_roots_are_for_every_project_or_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXHUB_GREP_ROOTS", "/srv/a=b, apollo=/srv/code ,hermes = /opt/code,")
    found = [("", Path("/srv/a=b")), ("apollo", Path("/srv/code")), ("hermes", Path("/opt/code"))]
    assert env.roots("CTXHUB_GREP_ROOTS") == found


@pytest.mark.parametrize("said", ["code", "apollo=code", "apollo=", "/", "apollo=/", "/srv/../etc", "~/code"])
def test_a_root_that_is_no_whole_path_is_refused(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv("CTXHUB_GREP_ROOTS", f"/srv/good,{said}")
    with pytest.raises(env.BadVariable, match="is no whole path of a folder"):
        env.roots("CTXHUB_GREP_ROOTS")


@pytest.mark.parametrize("said", ["/a/code,/b/code", "/a/code,x=/b/code", "x=/a/code,x=/b/code"])
def test_two_roots_of_a_project_have_two_names(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv("CTXHUB_GREP_ROOTS", said)
    with pytest.raises(env.BadVariable, match="two folders of one project are called 'code'"):
        env.roots("CTXHUB_GREP_ROOTS")


@pytest.mark.parametrize("key", ["short", "a" * 60, "ab" * 30])
def test_a_weak_secret_key_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: str) -> None:
    monkeypatch.setenv("CTXHUB_SECRET_KEY", key)
    with pytest.raises(env.BadVariable, match="too weak"):
        env.secret_key("CTXHUB_SECRET_KEY", tmp_path / "secret_key")


def test_a_secret_key_is_made_once_for_its_owner_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("CTXHUB_SECRET_KEY")
    file = tmp_path / "var" / "secret_key"
    made = env.secret_key("CTXHUB_SECRET_KEY", file)
    assert env.secret_key("CTXHUB_SECRET_KEY", file) == made
    assert file.stat().st_mode & 0o777 == 0o600


# -- .env ------------------------------------------------------------------------------------------


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    monkeypatch.setattr(env, "ROOT", tmp_path)
    env._dotenv.cache_clear()
    yield tmp_path
    env._dotenv.cache_clear()


def test_dotenv_is_read_and_the_environment_wins(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / ".env").write_text('# a comment\nexport CTXHUB_A="from the file"\nCTXHUB_B=from the file\n')
    monkeypatch.setenv("CTXHUB_B", "from the environment")
    assert (env.text("CTXHUB_A"), env.text("CTXHUB_B")) == ("from the file", "from the environment")


def test_the_example_changes_nothing_until_uncommented(root: Path) -> None:
    (root / ".env").write_text(EXAMPLE.read_text())
    assert env._dotenv() == {}


# -- .env.example ----------------------------------------------------------------------------------


def variables_read(file: Path) -> set[str]:
    """The names given to env.py's functions, or looked up in os.environ."""
    calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    first = [call.args[0] for call in calls if call.args and isinstance(call.func, ast.Attribute | ast.Name)]
    words = [node.value for node in first if isinstance(node, ast.Constant)]
    pattern = re.compile(r"(CTXHUB_|DJANGO_SUPERUSER_|DATABASE_)[A-Z_]+")
    return {word for word in words if isinstance(word, str) and pattern.fullmatch(word)}


def test_the_example_lists_exactly_the_variables_that_are_read() -> None:
    read = set[str]().union(*map(variables_read, (env.ROOT / "ctxhub").rglob("*.py")))
    listed = re.findall(r"^#([A-Z_]+)=", EXAMPLE.read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(read)


def test_the_example_says_of_each_variable_what_it_is() -> None:
    lines = EXAMPLE.read_text().splitlines()
    above = [lines[at - 1] for at, line in enumerate(lines) if re.match(r"#[A-Z_]+=", line)]
    assert all(line.startswith("# ") for line in above)
