"""`connect` from the code to the first brief, again without a change, and `disconnect` back to what was."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from ctxhub.core.models import AccessToken, Project
from tests.hub import LiveHub
from tests.integrations.hook import PYTHON, Run, Workplace, finished, put_archive
from tests.integrations.tls import behind_tls
from tests.people import person, signed_in

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_engine]
CLIENTS = ("claude-code", "codex", "cursor")


@pytest.fixture
def desk(workplace: Workplace) -> Workplace:
    """A machine with three clients, the hub's program beside the repository, and no variables."""
    for name in (".claude", ".codex", ".cursor"):
        (workplace.folder / "home" / name).mkdir()
    workplace.variables |= {"CTXHUB_TOKEN": "", "CTXHUB_URL": ""}
    put_archive(workplace.folder, workplace.limits)
    return workplace


def approving(desk: Workplace, client: Client, *arguments: str, **form: Any) -> Run:
    """The command, whose code a person types at the hub."""
    started = desk.start("connect", *arguments, "--no-browser", script=desk.folder / "ctxhub.pyz")
    err = started.process.stderr
    assert err
    shown = b""
    while not (code := re.search(rb"    ([A-Z]{4}-[A-Z]{4})\n", shown)):
        line = err.readline()
        assert line, shown
        shown += line
    page = reverse("enrolment")
    assert client.post(page, {"code": code[1].decode()}).status_code == 302
    sent = {"decision": "approve", "project": "apollo", "scopes": ["read", "write"], "days": "90"} | form
    assert client.post(page, sent).status_code == 200
    return finished(started)


def run(desk: Workplace, *arguments: str, script: str = "ctxhub.pyz") -> Run:
    return desk.run(*arguments, script=desk.folder / script)


def snapshot(desk: Workplace) -> dict[str, bytes]:
    """All files of the repository and the home but those of the program itself and its tokens."""
    found: dict[str, bytes] = {}
    for top in (desk.repository, desk.folder / "home"):
        for path in top.rglob("*"):
            name = str(path.relative_to(desk.folder))
            own = (".git/", ".local/share/ctxhub", ".local/state/ctxhub", ".config/ctxhub", ".cache/")
            if path.is_file() and not any(part in name for part in own):
                found[name] = path.read_bytes()
    return found


def test_one_command_connects_the_clients_that_are_there(
    desk: Workplace, hub: LiveHub, apollo: Project
) -> None:
    before = snapshot(desk)
    grace = person("grace", apollo)
    first = approving(desk, signed_in(grace), hub.url)
    assert first.code == 0, first
    assert "ctx_" not in first.out + first.err
    assert f"grace-claude is connected to project apollo at {hub.url}." in first.out
    owned = AccessToken.unscoped.filter(owner=grace).values_list("client", "agent__name")
    assert sorted(owned) == [(each, f"grace-{each.partition('-')[0]}") for each in CLIENTS]

    connected = snapshot(desk)
    assert connected != before
    assert not any(b"ctx_" in content for content in connected.values()), "no token in a client's file"
    again = run(desk, "connect", hub.url)
    assert (again.code, snapshot(desk)) == (0, connected), "a second one changes no byte"
    assert AccessToken.unscoped.filter(owner=grace).count() == 3

    settings = json.loads((desk.repository / ".claude" / "settings.local.json").read_text())
    command = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    brief = hooked(desk, command)
    assert brief["hookSpecificOutput"]["additionalContext"]

    doctor = json.loads(run(desk, "doctor", "--json").out)
    states = {each["state"] for each in doctor["findings"] if each["check"] in CLIENTS[:2]}
    assert states == {"ok"}, doctor
    assert "ctxhub.pyz is not needed any more." in first.out

    assert run(desk, "disconnect").code == 0
    assert snapshot(desk) == before
    revoked = run(desk, "disconnect", "--revoke")
    assert revoked.out.count("is revoked") == 3
    assert AccessToken.unscoped.filter(owner=grace, revoked_at=None).count() == 0
    assert not (desk.folder / "home" / ".config" / "ctxhub" / "credentials.json").exists()


def hooked(desk: Workplace, command: str) -> Any:
    """What a hook answers that is run as the client does."""
    done = subprocess.run(
        ["sh", "-c", command],
        input=desk.input("session_start_startup"),
        cwd=desk.repository,
        env=desk.environment,
        capture_output=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_a_refusal_leaves_everything_as_it_was(desk: Workplace, hub: LiveHub, apollo: Project) -> None:
    before = snapshot(desk)
    refused = approving(desk, signed_in(person("grace", apollo)), hub.url, decision="refuse")
    assert (refused.code, refused.out) == (1, "")
    assert "Somebody has refused it." in refused.err
    assert snapshot(desk) == before


def test_a_token_that_is_given_needs_no_code(desk: Workplace, hub: LiveHub, ada_token: str) -> None:
    done = run(desk, "connect", hub.url, "--client", "codex", "--token", ada_token)
    assert done.code == 0, done
    assert "ada is connected to project apollo" in done.out
    token = run(desk, "token", "codex", "--hub", hub.url)
    assert token.out == ada_token + "\n"
    desk.variables |= {"CTXHUB_TOKEN": ada_token, "CTXHUB_URL": hub.url}
    assert run(desk, "connect", "--client", "claude").code == 0
    desk.variables["CTXHUB_URL"] = "http://elsewhere.example.com"
    started = desk.start(
        "connect", hub.url, "--client", "cursor", "--no-browser", script=desk.folder / "ctxhub.pyz"
    )
    assert started.process.stderr
    assert b"type the code" in started.process.stderr.readline(), "it is for another address"
    started.process.kill()
    finished(started)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "Which hub?"),
        (
            ("hub.example.com",),
            "which is no address: write http://hub.example.com or https://hub.example.com.",
        ),
        (("http://127.0.0.1:9", "--client", "codex"), "cannot be reached"),
        (
            ("http://127.0.0.1:9", "--client", "emacs"),
            "There is no client 'emacs'; there are claude-code, codex",
        ),
    ],
)
def test_what_cannot_be_done_is_told(desk: Workplace, arguments: tuple[str, ...], told: str) -> None:
    before = snapshot(desk)
    done = run(desk, "connect", *arguments)
    assert (done.code, done.out) == (1, "")
    assert told in done.err
    assert snapshot(desk) == before


def test_a_certificate_that_is_not_trusted_is_told(desk: Workplace, hub: LiveHub, tmp_path: Path) -> None:
    with behind_tls(hub, tmp_path) as untrusted:
        done = run(desk, "connect", untrusted.url, "--client", "codex")
        desk.variables |= {"CTXHUB_URL": untrusted.url}
        doctor = run(desk, "doctor")
    assert (done.code, done.out) == (1, "")
    for told in (done.err, doctor.out):
        assert "CERTIFICATE_VERIFY_FAILED" in told
        assert "export SSL_CERT_FILE=" in told
    assert "Is the hub running" not in doctor.out


def test_what_names_paths_of_this_machine_is_told(desk: Workplace, hub: LiveHub, ada_token: str) -> None:
    done = run(desk, "connect", hub.url, "--client", "claude-code,codex", "--token", ada_token)
    told = re.findall(r"(\S+) names paths of this machine", done.out)
    assert told == [
        f"repository/{name}"
        for name in (".claude/settings.local.json", ".codex/config.toml", ".codex/hooks.json")
    ]


def test_a_dry_run_writes_and_asks_nothing(desk: Workplace, hub: LiveHub) -> None:
    before = snapshot(desk)
    done = run(desk, "connect", hub.url, "--dry-run")
    assert done.code == 0
    assert done.out.count("would be written") >= 3
    assert snapshot(desk) == before
    assert not (desk.folder / "home" / ".config").exists()
    assert AccessToken.unscoped.count() == 0


def test_a_repository_names_its_hub(desk: Workplace, hub: LiveHub, apollo: Project) -> None:
    desk.write(".ctxhub.json", json.dumps({"hub": hub.url, "project": "apollo"}))
    done = approving(desk, signed_in(person("grace", apollo)), "--client", "claude-code", agent_0="zoe")
    assert "zoe is connected to project apollo" in done.out
    other = Workplace(Path(desk.folder))
    assert other.repository.exists()
    hook = desk.run("hook", "claude", stdin=desk.input("session_start_startup"))
    assert hook.context


def test_a_program_that_git_runs_uses_the_connection_as_well(
    desk: Workplace, hub: LiveHub, apollo: Project
) -> None:
    approving(desk, signed_in(person("grace", apollo)), hub.url, "--client", "codex")
    assert run(desk, "install", "pre-commit").code == 0
    desk.write("a.py")
    desk.git("add", ".")
    desk.git("commit", "-qm", "First.")
    assert PYTHON
