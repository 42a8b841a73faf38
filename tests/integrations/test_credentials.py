"""The tokens that `connect` has stored: for the user alone, by hub, project and agent, renewed in time."""

import json
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from ctxhub_client import settings
from ctxhub_client.access import credentials, renewing
from ctxhub_client.access.credentials import Credential, NotStored, forget, keep, normal_hub, read_all

from ctxhub.core.kit import clock
from ctxhub.core.kit.clock import format_time
from tests.integrations.hook import Workplace, is_silent
from tests.integrations.stub_hub import Answer, StubHub

HUB = "https://hub.example.com"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("CTXHUB_TOKEN", "CTXHUB_URL", "CTXHUB_AGENT", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    settings.name_connection()
    yield tmp_path
    settings.name_connection()


def a_token(**values: Any) -> Credential:
    return Credential(
        {"hub": HUB, "project": "apollo", "agent": "grace-claude", "client": "claude-code", "token": "ctx_1"}
        | values
    )


def chosen(**named: str) -> tuple[str, str, str]:
    settings.name_connection(**named)
    return settings.hub_address(), settings.access_token(), settings.agent_name()


def test_they_are_kept_for_the_user_alone(home: Path) -> None:
    keep([a_token()])
    file = Path(credentials.path())
    assert file == home / "config" / "ctxhub" / "credentials.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [each.values for each in read_all()] == [a_token().values]


def test_one_for_the_same_agent_takes_the_place_of_the_old_one() -> None:
    keep([a_token(), a_token(agent="zoe", token="ctx_2")])
    keep([a_token(hub=HUB.upper() + "/mcp", agent="Grace-Claude", token="ctx_3")])
    assert {each.token for each in read_all()} == {"ctx_2", "ctx_3"}
    forget([a_token(token="ctx_2"), a_token(token="ctx_1")])
    assert [each.token for each in read_all()] == ["ctx_3"]
    forget([a_token(token="ctx_3")])
    assert not Path(credentials.path()).exists()


@pytest.mark.parametrize(
    "url", ["https://Hub.example.com", "HTTPS://hub.example.com/", "https://hub.example.com/mcp"]
)
def test_a_hub_is_the_same_in_each_spelling(url: str) -> None:
    assert normal_hub(url) == HUB
    assert normal_hub("https://hub.example.com/Team/api/v1/") == "https://hub.example.com/Team"


def test_many_processes_lose_no_token() -> None:
    def run(number: int) -> None:
        keep([a_token(agent=f"a{number}", token=f"ctx_{number}")])

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(run, range(64)))
    assert {each.token for each in read_all()} == {f"ctx_{number}" for number in range(64)}


@pytest.mark.parametrize("content", ["{", "[]", '{"tokens": {}}', "\x00", '{"tokens": 5}'])
def test_a_file_of_another_form_stays_as_it_is(content: str) -> None:
    file = Path(credentials.path())
    file.parent.mkdir(parents=True)
    file.write_text(content)
    assert read_all() == []
    with pytest.raises(NotStored):
        keep([a_token()])
    assert file.read_text() == content


def test_entries_that_are_none_are_passed_over() -> None:
    file = Path(credentials.path())
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"tokens": [5, {}, {"hub": HUB}, a_token().values, {"hub": 5, "token": []}]}))
    assert [each.token for each in read_all()] == ["ctx_1"]


# -- Which one -------------------------------------------------------------------------------------------


def test_the_only_connection_needs_no_name() -> None:
    assert chosen() == ("http://127.0.0.1:8000", "", "")
    keep([a_token()])
    assert chosen() == (HUB, "ctx_1", "grace-claude")


def test_each_client_speaks_as_its_own_agent() -> None:
    keep([a_token(), a_token(agent="grace-codex", client="codex", token="ctx_2")])
    assert chosen(client="codex")[1:] == ("ctx_2", "grace-codex")
    assert chosen(client="claude")[1:] == ("ctx_1", "grace-claude")
    assert chosen(client="claude", agent="grace-codex")[1:] == ("ctx_2", "grace-codex")


def test_of_several_projects_none_is_chosen_unless_it_is_named(home: Path) -> None:
    keep([a_token(), a_token(project="hermes", token="ctx_2")])
    assert chosen()[1] == ""
    assert chosen(project="hermes")[1] == "ctx_2"
    (home / ".ctxhub.json").write_text(json.dumps({"hub": HUB, "project": "apollo"}))
    assert chosen()[1] == "ctx_1"
    assert chosen(project="hermes")[1] == "ctx_2", "the line of a client comes first"


def test_a_repository_names_the_hub_of_all_its_folders(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep([a_token(), a_token(project="hermes", token="ctx_2")])
    work = Workplace(home / "work")
    work.git("init", "-q")
    work.write(".ctxhub.json", json.dumps({"project": "hermes"}))
    work.write("src/deep/x")
    monkeypatch.chdir(work.repository / "src" / "deep")
    assert chosen()[1] == "ctx_2"
    monkeypatch.chdir(home)
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(work.repository))
    assert chosen()[1] == "ctx_2"


@pytest.mark.parametrize("content", ["{", "[]", '{"hub": 5}', '{"hub": "https://evil.example.com"}'])
def test_a_repository_cannot_have_a_token_sent_elsewhere(
    home: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    (home / ".ctxhub.json").write_text(content)
    keep([a_token(), a_token(project="hermes", token="ctx_2")])
    assert chosen()[1] == ""
    monkeypatch.setenv("CTXHUB_TOKEN", "ctx_env")
    assert chosen()[:2] == ("http://127.0.0.1:8000", "ctx_env")


def test_the_token_of_the_environment_is_for_its_own_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXHUB_TOKEN", "ctx_env")
    monkeypatch.setenv("CTXHUB_URL", "https://other.example.com")
    keep([a_token()])
    assert chosen() == ("https://other.example.com", "ctx_env", "")
    assert chosen(hub=HUB)[:2] == (HUB, "ctx_1")
    assert chosen(hub="https://third.example.com")[:2] == ("https://third.example.com", "")
    assert chosen(hub="https://other.example.com/")[:2] == ("https://other.example.com/", "ctx_env")


def test_a_hook_uses_what_is_stored(at_stub: Workplace, stub: StubHub) -> None:
    at_stub.variables |= {
        "CTXHUB_TOKEN": "",
        "CTXHUB_URL": "",
        "XDG_CONFIG_HOME": str(at_stub.folder / "config"),
    }
    keep_at(at_stub, a_token(hub=stub.url), a_token(hub=stub.url, agent="x", client="codex", token="ctx_2"))
    named = ("--hub", stub.url, "--project", "apollo", "--agent", "grace-claude")
    run = at_stub.run("hook", "claude", *named, stdin=at_stub.input("session_start_startup"))
    assert run.context
    assert stub.one("brief/").headers["authorization"] == "Bearer ctx_1"
    at_stub.run("hook", "codex", stdin=at_stub.input("session_start_startup"))
    assert stub.of("brief/")[-1].headers["authorization"] == "Bearer ctx_2"
    other = ("hook", "claude", "--hub", "http://127.0.0.1:9")
    assert "CTXHUB_TOKEN is not set" not in at_stub.run(*other, stdin=at_stub.input("stop")).out
    assert is_silent(at_stub.run(*other, stdin=at_stub.input("pre_tool_use_edit")))


def keep_at(workplace: Workplace, *tokens: Credential) -> None:
    file = Path(workplace.variables["XDG_CONFIG_HOME"]) / "ctxhub" / "credentials.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"tokens": [each.values for each in tokens]}))


# -- Renewal ---------------------------------------------------------------------------------------------


def in_days(days: float) -> str:
    return format_time(clock.now() + timedelta(days=days))


def renewed(stub: StubHub) -> None:
    told = a_token(hub="https://another.example.com").values
    told |= {"access_token": "ctx_new", "expires": in_days(90), "renews": True}
    stub.answers["/connect/renew/"] = Answer(told, 200)


def test_a_token_is_replaced_three_weeks_before_it_ends(stub: StubHub) -> None:
    renewed(stub)
    old = a_token(hub=stub.url, renews=True, expires=in_days(20))
    keep([old])
    new = renewing.renew_if_due(old)
    assert (new.token, new.hub) == ("ctx_new", stub.url), "the hub does not name another one"
    assert [each.token for each in read_all()] == ["ctx_new"]
    [sent] = stub.sent
    assert sent.headers["authorization"] == "Bearer ctx_1"
    assert renewing.renew_if_due(old).token == "ctx_new", "another process has got it meanwhile"
    assert len(stub.sent) == 1


@pytest.mark.parametrize(("days", "renews"), [(2, False), (30, True), (-1, True), (None, True)])
def test_others_are_not(stub: StubHub, days: float | None, renews: bool) -> None:
    old = a_token(hub=stub.url, renews=renews, expires="soon" if days is None else in_days(days))
    keep([old])
    assert renewing.renew_if_due(old) is old
    assert stub.sent == []


def test_a_hub_that_refuses_or_is_away_changes_nothing(stub: StubHub) -> None:
    stub.answers["/connect/renew/"] = Answer({"error": "conflict", "error_description": "Too early."}, 409)
    for hub in (stub.url, "http://127.0.0.1:9"):
        old = a_token(hub=hub, renews=True, expires=in_days(1))
        keep([old])
        assert renewing.renew_if_due(old) is old
    assert {each.token for each in read_all()} == {"ctx_1"}


def test_a_session_that_starts_renews_once_a_day(at_stub: Workplace, stub: StubHub) -> None:
    at_stub.variables |= {"CTXHUB_TOKEN": "", "XDG_CONFIG_HOME": str(at_stub.folder / "config")}
    renewed(stub)
    keep_at(at_stub, a_token(hub=stub.url, renews=True, expires=in_days(20)))
    for _ in range(2):
        assert at_stub.event("session_start_startup").context
    tokens = [sent.headers["authorization"] for sent in stub.of("brief/")]
    assert tokens == ["Bearer ctx_1", "Bearer ctx_new"]
    assert [sent.path for sent in stub.sent].count("/connect/renew/") == 1
