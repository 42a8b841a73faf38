"""Environment variables are parsed to their type or refused; `.env.example` lists all of them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxhub import env
from ctxhub.management.unread_variables import unread_variables

EXAMPLE = env.ROOT / ".env.example"
STRONG = "0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEF"


def test_a_variable_that_is_not_set_has_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXHUB_DEBUG", " ")
    assert env.flag("CTXHUB_DEBUG", default=True) is True


@pytest.mark.parametrize(("value", "expected"), [("yes", True), ("On", True), ("0", False), ("FALSE", False)])
def test_a_flag_accepts_several_words_in_any_case(
    monkeypatch: pytest.MonkeyPatch, value: str, expected: bool
) -> None:
    monkeypatch.setenv("CTXHUB_DEBUG", value)
    assert env.flag("CTXHUB_DEBUG", default=not expected) is expected


def test_an_unknown_flag_value_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXHUB_DEBUG", "perhaps")
    with pytest.raises(env.BadVariable, match="CTXHUB_DEBUG='perhaps' cannot be used: say true or false"):
        env.flag("CTXHUB_DEBUG", default=False)


@pytest.mark.parametrize("value", ["many", "-1", "501"])
def test_a_number_out_of_bounds_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CTXHUB_RATE_LIMIT", value)
    with pytest.raises(env.BadVariable, match="CTXHUB_RATE_LIMIT"):
        env.number("CTXHUB_RATE_LIMIT", 12, at_most=500)


def test_a_choice_is_one_of_its_values_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.fixture
def folders(tmp_path: Path) -> str:
    for name in ("a=b", "code", "opt/code", "good"):
        (tmp_path / name).mkdir(parents=True)
    return str(tmp_path)


def test_roots_are_for_every_project_or_for_one(monkeypatch: pytest.MonkeyPatch, folders: str) -> None:
    value = f"{folders}/a=b, apollo={folders}/code ,hermes = {folders}/opt/code,"
    monkeypatch.setenv("CTXHUB_GREP_ROOTS", value)
    expected = [("", "a=b"), ("apollo", "code"), ("hermes", "opt/code")]
    assert env.roots("CTXHUB_GREP_ROOTS") == [(project, Path(folders, name)) for project, name in expected]


@pytest.mark.parametrize(
    "value", ["code", "apollo=code", "apollo=", "/", "apollo=/", "/srv/../etc", "~/code"]
)
def test_a_root_that_is_no_absolute_path_of_a_folder_is_refused(
    monkeypatch: pytest.MonkeyPatch, folders: str, value: str
) -> None:
    monkeypatch.setenv("CTXHUB_GREP_ROOTS", f"{folders}/good,{value}")
    with pytest.raises(env.BadVariable, match="is no whole path of a folder"):
        env.roots("CTXHUB_GREP_ROOTS")


def test_a_missing_root_is_refused(monkeypatch: pytest.MonkeyPatch, folders: str) -> None:
    monkeypatch.setenv("CTXHUB_GREP_ROOTS", f"{folders}/good,apollo={folders}/bad")
    with pytest.raises(env.BadVariable, match=rf"CTXHUB_GREP_ROOTS.*there is no folder {folders}/bad"):
        env.roots("CTXHUB_GREP_ROOTS")


@pytest.mark.parametrize(
    "value", ["{0}/code,{0}/opt/code", "{0}/code,x={0}/opt/code", "x={0}/code,x={0}/opt/code"]
)
def test_two_roots_of_a_project_with_the_same_name_are_refused(
    monkeypatch: pytest.MonkeyPatch, folders: str, value: str
) -> None:
    monkeypatch.setenv("CTXHUB_GREP_ROOTS", value.format(folders))
    with pytest.raises(env.BadVariable, match="two folders of one project are called 'code'"):
        env.roots("CTXHUB_GREP_ROOTS")


# -- The database ----------------------------------------------------------------------------------


def database(default: Path = Path("/var/empty")) -> dict[str, Any]:
    return env.database("DATABASE_URL", default, "CTXHUB_VAR_DIR")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("foo://", "it begins with 'foo'; say sqlite:////path/to.db or postgres://user:password@host"),
        ("mysql://h/db", "it begins with 'mysql'"),
        ("hub.sqlite3", "it begins with 'hub.sqlite3'"),
        ("postgres://u:secret@h:port/db", "it is no URL"),
        ("postgres://u:secret@[h/db", "it is no URL"),
        ("postgres://u:secret@h", "it names no database"),
        ("sqlite://", "it names no file"),
        ("sqlite://:memory:", "it names no file"),
        ("sqlite:////", "/ is a folder"),
        ("sqlite:////no/where/hub.sqlite3", "there is no folder /no/where"),
        ("sqlite:////dev/null/hub.sqlite3", "there is no folder /dev/null"),
    ],
)
def test_an_invalid_url_is_refused_without_showing_its_password(
    monkeypatch: pytest.MonkeyPatch, url: str, reason: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    with pytest.raises(env.BadVariable, match=re.escape(f"DATABASE_URL cannot be used: {reason}")) as refused:
        database()
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("url", ["postgres://u:p@h:5432/hub?sslmode=require", "postgresql:///?service=hub"])
def test_a_postgres_url_is_accepted(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    assert database()["ENGINE"] == "django.db.backends.postgresql"


def test_the_database_file_need_not_exist(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path}/a%20hub.sqlite3")
    assert database()["NAME"] == f"{tmp_path}/a hub.sqlite3"
    monkeypatch.setenv("DATABASE_URL", "")
    assert database(tmp_path / "var?" / "new" / "hub")["NAME"] == f"{tmp_path}/var?/new/hub"


def test_a_default_database_in_an_impossible_folder_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "")
    with pytest.raises(env.BadVariable, match=r"CTXHUB_VAR_DIR cannot be used: /dev/null is no folder\."):
        database(Path("/dev/null/var/hub.sqlite3"))


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("sqlite:////srv/c#/hub.db", "write %23 instead"),
        ("postgres://ada:p#w@db.example/hub", "write %23 instead"),
        ("sqlite:////srv/what?/hub.db", "write %3F for one in a name"),
    ],
)
def test_a_sign_that_ends_a_path_or_password_is_refused(
    monkeypatch: pytest.MonkeyPatch, url: str, reason: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    with pytest.raises(env.BadVariable, match=reason):
        database(Path("/tmp/hub.sqlite3"))


def test_an_escaped_sign_is_part_of_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "c#").mkdir()
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path}/c%23/hub.db")
    assert database(Path("/tmp/hub.sqlite3"))["NAME"] == f"{tmp_path}/c#/hub.db"


# -- The URL of the hub ----------------------------------------------------------------------------


def test_the_url_of_a_hub_is_the_root_of_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXHUB_BASE_URL", "https://hub.example.com:8443/")
    assert env.origin("CTXHUB_BASE_URL", "") == "https://hub.example.com:8443"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://hub.example.com/ctxhub", "at the root of its host only"),
        ("https://hub.example.com/?a=b", "at the root of its host only"),
        ("hub.example.com", "say https://hub.example.com"),
        ("ftp://hub.example.com", "say https://hub.example.com"),
        ("https://", "say https://hub.example.com"),
        ("https://[::1", "cannot be used"),
        ("https://hub.example.com:port", "cannot be used"),
    ],
)
def test_another_url_of_a_hub_is_refused(monkeypatch: pytest.MonkeyPatch, url: str, reason: str) -> None:
    monkeypatch.setenv("CTXHUB_BASE_URL", url)
    with pytest.raises(env.BadVariable, match=reason):
        env.origin("CTXHUB_BASE_URL", "")


# -- The secret key --------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["short", "a" * 60, "ab" * 30])
def test_a_weak_secret_key_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: str) -> None:
    monkeypatch.setenv("CTXHUB_SECRET_KEY", key)
    with pytest.raises(env.BadVariable, match="too weak"):
        secret_key(tmp_path / "secret_key")


def test_a_secret_key_is_created_once_and_only_its_owner_can_read_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("CTXHUB_SECRET_KEY")
    file = tmp_path / "var" / "secret_key"
    made = secret_key(file)
    assert secret_key(file) == made
    assert file.stat().st_mode & 0o777 == 0o600


def secret_key(file: Path) -> str:
    return env.secret_key("CTXHUB_SECRET_KEY", file, "CTXHUB_VAR_DIR")


def test_a_secret_key_that_cannot_be_stored_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CTXHUB_SECRET_KEY")
    with pytest.raises(env.BadVariable, match="CTXHUB_VAR_DIR cannot be used: /dev/null is no folder"):
        secret_key(Path("/dev/null/var/secret_key"))


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


def test_a_byte_order_mark_belongs_to_no_name(root: Path) -> None:
    (root / ".env").write_text("CTXHUB_A=a\r\nCTXHUB_B=b\r\n", encoding="utf-8-sig")
    assert (env.text("CTXHUB_A"), env.text("CTXHUB_B")) == ("a", "b")


def test_a_comment_may_follow_a_value_and_a_sign_within_it_is_none(root: Path) -> None:
    (root / ".env").write_text("CTXHUB_A=true # as it should be\nCTXHUB_B=/srv/c#/x\nCTXHUB_C='a # b'\n")
    assert [env.text(f"CTXHUB_{name}") for name in "ABC"] == ["true", "/srv/c#/x", "a # b"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("CTXHUB_A=true\n".encode("utf-16"), "is UTF-16: save it as UTF-8"),
        ("CTXHUB_A=true\n".encode("utf-16-le"), "is no text: save it as UTF-8"),
        (b"# one\n# caf\xe9\nCTXHUB_A=1\n", "line 2: its letters are not UTF-8"),
        (b"\n\nCTXHUB_TOKEN ctx_secret\nCTXHUB_A=1\n", "line 3: say NAME=value there, or begin it with #"),
        (b"CTXHUB_A=1\nCTXHUB_B\n", "line 2: say NAME=value"),
        (b"CTXHUB_A='open\n", "line 1: say NAME=value"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_without_its_values(
    root: Path, content: bytes, reason: str
) -> None:
    (root / ".env").write_bytes(content)
    with pytest.raises(env.BadVariable, match=reason) as refused:
        env.text("CTXHUB_A")
    assert "secret" not in str(refused.value)


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


def test_the_example_explains_each_variable() -> None:
    lines = EXAMPLE.read_text().splitlines()
    above = [lines[at - 1] for at, line in enumerate(lines) if re.match(r"#[A-Z_]+=", line)]
    assert all(line.startswith("# ") for line in above)


# -- Names that nothing reads ----------------------------------------------------------------------


def test_a_mistyped_name_is_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / ".env.example").write_text(EXAMPLE.read_text())
    (root / ".env").write_text(
        "CTXHUB_ALOWED_HOSTS=a\nCTXHUB_TOKEN=x\nCTXHUB_DEBUG=no\nDATABASEURL=x\nSHOP=1\n"
    )
    monkeypatch.setenv("CTXHUB_MOD", "1")
    monkeypatch.setenv("CTXHUB_OTHER_PROGRAM", "1")
    assert list(unread_variables()) == [
        ".env sets 'CTXHUB_ALOWED_HOSTS', which nothing here reads; perhaps CTXHUB_ALLOWED_HOSTS is meant.",
        ".env sets 'DATABASEURL', which nothing here reads; perhaps DATABASE_URL is meant.",
        ".env sets 'SHOP', which nothing here reads.",
        "The environment sets 'CTXHUB_MOD', which nothing here reads; perhaps CTXHUB_MODE is meant.",
    ]


def test_nothing_is_told_of_the_names_that_are_read(root: Path) -> None:
    (root / ".env.example").write_text(EXAMPLE.read_text())
    names = re.findall(r"^#([A-Z_]+)=", EXAMPLE.read_text(), re.MULTILINE)
    (root / ".env").write_text("".join(f"{name}=1\n" for name in names))
    assert list(unread_variables()) == []


@pytest.mark.parametrize(
    ("value", "is_file"),
    [("/tmp/x.log", True), ("x.log", True), ("C:\\x", True), ("true", False), ("", False)],
)
def test_a_file_is_told_from_a_flag(value: str, is_file: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hooks and the hub share CTXHUB_DEBUG: a log, or a flag."""
    monkeypatch.setenv("CTXHUB_DEBUG", value)
    assert env.names_file("CTXHUB_DEBUG") is is_file
