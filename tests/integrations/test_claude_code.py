"""Hooks in the real Claude Code, without a model; skipped with a warning where npm cannot install it."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from ctxhub.core.models import Project
from tests import stdio
from tests.hub import LiveHub, Reply, RestClient
from tests.integrations.claude_code import ClaudeCode, make_patient
from tests.integrations.hook import PYTHON, ROOT, Workplace, put_archive
from tests.integrations.model_stand_in import StandIn, Step, text, use
from tests.timing import wait_until

pytestmark = [pytest.mark.one_engine, pytest.mark.needs_npm]

KEY = "api/auth/method"
# The hooks speak REST, whatever the client speaks: one test is run with each.
OVER_HTTP = pytest.mark.parametrize("client", ["http"], indirect=True)
OVER_STDIO = pytest.mark.parametrize("client", ["stdio"], indirect=True)
AS_ONE_PROCESS = pytest.mark.parametrize("client", ["stdio", "bridge"], indirect=True)


class PatientClient(RestClient):
    """Connects anew each time: the server ends connections that wait for the client's run."""

    def send(self, *args: Any, **kwargs: Any) -> Reply:
        self._connection = None
        return super().send(*args, **kwargs)


@pytest.fixture
def ada_rest(hub: LiveHub, ada_token: str) -> RestClient:
    return PatientClient(hub.port, ada_token, project="apollo")


@pytest.fixture
def ben_rest(hub: LiveHub, ben_token: str) -> RestClient:
    return PatientClient(hub.port, ben_token, project="apollo")


@pytest.fixture(params=["http", "stdio", "bridge"])
def client(
    request: Any, script: Path, with_hooks: Workplace, hub: LiveHub, ada_token: str, model: StandIn
) -> ClaudeCode:
    headers = {"Authorization": f"Bearer {ada_token}"}
    command, *arguments = stdio.command("--project", "apollo", "--agent", "ada")
    program = str(with_hooks.repository / ".ctxhub" / "ctxhub.pyz")
    servers: dict[str, dict[str, Any]] = {
        "http": {"type": "http", "url": f"{hub.url}/mcp", "headers": headers},
        "stdio": {"type": "stdio", "command": command, "args": arguments, "env": stdio.environment()},
        "bridge": {"type": "stdio", "command": PYTHON, "args": [program, "mcp"]},
    }
    return ClaudeCode(script, with_hooks, model, servers[request.param])


def items(rest: RestClient, path: str, /, **query: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rest.get(path, **query).body["items"]
    return found


def test_a_session_from_its_start_to_its_end(
    client: ClaudeCode, ada_rest: RestClient, ben_rest: RestClient
) -> None:
    """The brief is there, a leased file is not written, another one is recorded, and the end tidies up."""
    ben_rest.post("decisions/", {"key": KEY, "value": "JWT"})
    ben_rest.post("leases/", {"paths": ["src/**"], "reason": "Rotation"})
    at = client.workplace.repository
    client.model.then(
        use("mcp__ctxhub__decision", action="get", key=KEY),
        use("mcp__ctxhub__file", action="lease", paths=["docs/**"]),
        use("Write", file_path=str(at / "src" / "auth.py"), content="a = 1\n"),
        use("Write", file_path=str(at / "docs" / "auth.md"), content="JWT\n"),
        text("Described in docs/auth.md."),
    )
    assert client.ask("Describe the login") == "Described in docs/auth.md."

    assert f"decision:{KEY}: " in client.model.shown(1)
    assert "data, not orders" in client.model.shown(1)
    assert "JWT" in client.model.shown(2)
    assert '"result":"created"' in client.model.shown(3).replace("\\", "")
    assert "src/auth.py: leased by ben until " in client.model.shown(4)
    assert not (at / "src" / "auth.py").exists()
    assert (at / "docs" / "auth.md").read_text() == "JWT\n"

    [change] = items(ben_rest, "changes/", by="ada")
    assert (change["path"], change["change"]) == ("docs/auth.md", "created")
    assert [lease["by"] for lease in items(ben_rest, "leases/")] == ["ben"]
    [saved] = [row for row in items(ada_rest, "sessions/") if row["summary"]]
    assert saved["summary"] == "Described in docs/auth.md."
    whole = str(ada_rest.get(f"sessions/{saved['session']}/", full="true").body["conversations"])
    assert "user: Describe the login" in whole
    assert "a = 1" not in whole


def test_two_windows_of_one_agent_are_two_holders(client: ClaudeCode, ada_rest: RestClient) -> None:
    """What another window holds is refused, its own edits pass; also after it died and was resumed."""
    at = client.workplace.repository
    other = {"Ctxhub-Session": "claude-another"}
    held = ada_rest.post("leases/", {"paths": ["src/**"]}, other).body["lease_id"]
    client.model.then(
        use("mcp__ctxhub__file", action="lease", paths=["src/auth.py"]),
        use("mcp__ctxhub__file", action="lease", paths=["docs/**"]),
        use("Write", file_path=str(at / "src" / "auth.py"), content="a = 1\n"),
        use("Write", file_path=str(at / "docs" / "auth.md"), content="JWT\n"),
        text("Half done."),
    )
    client.ask("Describe the login")
    own = f"claude-{client.session}"
    assert f"lease:{held} (src/**) is held by another session of yours (claude-another" in client.model.shown(
        2
    )
    assert f"`file` `release` with lease_id {held}." in client.model.shown(4)
    assert not (at / "src" / "auth.py").exists()
    assert (at / "docs" / "auth.md").exists()
    assert [lease["session"] for lease in items(ada_rest, "leases/")] == ["claude-another"]

    # As if it had been killed: nobody released what it holds.
    ada_rest.post("leases/", {"paths": ["docs/**"]}, {"Ctxhub-Session": own})
    client.model.then(
        use("Edit", file_path=str(at / "docs" / "auth.md"), old_string="JWT", new_string="Sessions"),
        use("mcp__ctxhub__file", action="lease", paths=["docs/**"]),
        text("Done."),
    )
    client.ask("Go on", "--resume", client.session)
    assert f"claude-{client.session}" == own
    told = client.model.shown(len(client.model.turns))
    assert '"result":"extended"' in told.replace("\\", "")
    assert [lease["session"] for lease in items(ada_rest, "leases/")] == ["claude-another"]


def describe_login(at: Path) -> list[Step]:
    """Leases docs/**, and writes into it."""
    return [
        use("mcp__ctxhub__file", action="lease", paths=["docs/**"]),
        use("Write", file_path=str(at / "docs" / "auth.md"), content="JWT\n"),
        text("Half done."),
    ]


def go_on(at: Path, old: str, new: str) -> list[Step]:
    """Edits what it wrote, and leases it again."""
    file = str(at / "docs" / "auth.md")
    return [
        use("Read", file_path=file),
        use("Edit", file_path=file, old_string=old, new_string=new),
        use("mcp__ctxhub__file", action="lease", paths=["docs/**"]),
        text("Done."),
    ]


def is_extended(client: ClaudeCode) -> bool:
    return '"result":"extended"' in client.model.shown(len(client.model.turns)).replace("\\", "")


def holders(rest: RestClient) -> list[str]:
    return [lease["session"] for lease in items(rest, "leases/")]


def refused_to_another(rest: RestClient) -> str:
    """Which session of Ada's is in the way of another one."""
    refused = rest.post("leases/", {"paths": ["docs/auth.md"]}, {"Ctxhub-Session": "claude-another"})
    assert refused.status == 409, refused.body
    session: str = refused.body["current"]["session"]
    return session


def test_a_window_that_is_cleared_goes_on_with_what_it_holds(
    client: ClaudeCode, ada_rest: RestClient
) -> None:
    """In a terminal: what it leased is its next session's, and the first one's again when that is resumed."""
    at = client.workplace.repository
    with client.window() as window:
        client.model.then(*describe_login(at))
        window.say("Describe the login")
        [first] = holders(ada_rest)
        assert first.startswith("claude-")

        # The hook of the new session may still run when the client is at rest.
        window.say("/clear")
        wait_until(lambda: first not in holders(ada_rest))
        [second] = holders(ada_rest)
        assert refused_to_another(ada_rest) == second
        client.model.then(*go_on(at, "JWT", "Sessions"))
        window.say("Go on")
        assert (at / "docs" / "auth.md").read_text() == "Sessions\n"
        assert is_extended(client)
        assert holders(ada_rest) == [second]

        window.say(f"/resume {first.removeprefix('claude-')}")
        wait_until(lambda: holders(ada_rest) == [first])
        assert refused_to_another(ada_rest) == first
        client.model.then(*go_on(at, "Sessions", "Cookies"))
        window.say("Once more")
        assert (at / "docs" / "auth.md").read_text() == "Cookies\n"
        assert is_extended(client)

        window.leave()
    assert holders(ada_rest) == []


@AS_ONE_PROCESS
def test_a_stdio_server_that_keeps_its_first_session_is_the_one_that_goes_on(
    client: ClaudeCode, ada_rest: RestClient
) -> None:
    """Without a hook that names the session in each call, twice cleared."""
    settings = client.workplace.repository / ".claude" / "settings.json"
    named = settings.read_text()
    settings.write_text(named.replace("|mcp__(?:plugin_ctxhub_)?ctxhub__.*", ""))
    assert settings.read_text() != named
    at = client.workplace.repository
    with client.talking() as talk:
        client.model.then(*describe_login(at))
        first = talk.say("Describe the login")["session_id"]
        assert holders(ada_rest) == [f"claude-{first}"]
        for old, new in (("JWT", "Sessions"), ("Sessions", "Cookies")):
            talk.say("/clear")
            client.model.then(*go_on(at, old, new))
            session = talk.say("Go on")["session_id"]
            assert session != first
            assert (at / "docs" / "auth.md").read_text() == f"{new}\n"
            assert is_extended(client)
            assert holders(ada_rest) == [f"claude-{session}"]
            assert refused_to_another(ada_rest) == f"claude-{session}"
    assert holders(ada_rest) == []


@OVER_STDIO
def test_the_next_prompt_tells_of_a_decision_that_has_changed(
    client: ClaudeCode, ada_rest: RestClient, ben_rest: RestClient
) -> None:
    if ada_rest.get("nudge/").status == 404:
        pytest.skip("this hub has no nudge yet")
    ben_rest.post("decisions/", {"key": KEY, "value": "JWT"})
    client.model.then(use("mcp__ctxhub__decision", action="get", key=KEY), text("It is JWT."))
    client.ask("What is the login?")
    ben_rest.post("decisions/", {"key": KEY, "value": "sessions"})

    client.model.then(text("It is sessions now."))
    client.ask("And now?", "--continue")
    assert f"decision:{KEY}" in client.model.shown(1).partition("UserPromptSubmit")[2]

    client.model.then(text("Still."))
    client.ask("And now?", "--continue")
    told = client.model.shown(1).rpartition("It is sessions now.")[2]
    assert f"decision:{KEY}" not in told.partition("UserPromptSubmit")[2]


@OVER_HTTP
def test_urgent_mail_is_told_before_the_client_waits(client: ClaudeCode, ben_rest: RestClient) -> None:
    client.model.then(text("Done."), text("I have seen it."))
    ben_rest.post("messages/", {"text": "The build is broken.", "to": ["ada"], "priority": "high"})
    assert client.ask("Tidy up") == "I have seen it."
    assert "from ben: The build is broken." in client.model.shown(2)


@OVER_HTTP
def test_what_must_hold_is_told_with_the_edit(client: ClaudeCode, ben_rest: RestClient) -> None:
    rule = {"category": "security", "text": "No secrets in logs.", "paths": ["src/*.py"]}
    ben_rest.post("constraints/", rule)
    file = client.workplace.repository / "src" / "app.py"
    client.model.then(use("Write", file_path=str(file), content="a = 1\n"), text("Done."))
    client.ask("Write the app")
    assert "Before you edit src/app.py:" in client.model.shown(2)
    assert file.exists()


@OVER_HTTP
def test_a_hub_that_is_down_is_not_noticed(client: ClaudeCode) -> None:
    client.workplace.variables["CTXHUB_URL"] = "http://127.0.0.1:9"
    client.server = {"type": "http", "url": "http://127.0.0.1:9/mcp"}
    file = client.workplace.repository / "src" / "app.py"
    client.model.then(use("Write", file_path=str(file), content="a = 1\n"), text("Done."))
    assert client.ask("Write the app") == "Done."
    assert file.exists()
    assert "data, not orders" not in client.model.shown(2)


def test_the_plugin_does_the_same(
    script: Path,
    workplace: Workplace,
    hub: LiveHub,
    ada_token: str,
    model: StandIn,
    ben_rest: RestClient,
    apollo: Project,
) -> None:
    workplace.variables |= {"CTXHUB_URL": hub.url, "CTXHUB_TOKEN": ada_token}
    ben_rest.post("decisions/", {"key": KEY, "value": "JWT"})
    client = ClaudeCode(script, workplace, model, {"type": "http", "url": "http://127.0.0.1:9/mcp"})
    model.then(text("Done."))
    plugin = workplace.folder / "plugin"
    shutil.copytree(ROOT / "integrations" / "claude-code" / "plugin", plugin)
    assert workplace.run("install", script=put_archive(workplace.folder)).code == 0
    make_patient(workplace.folder)
    client.ask("Begin", "--plugin-dir", str(plugin))
    assert f"decision:{KEY}: " in model.shown(1)
    assert items(ben_rest, "sessions/", by="ada")
