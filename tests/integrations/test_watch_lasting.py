"""`watch` goes on through what hubs and networks do, and ends when nobody is there to be told."""

import json
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.hook import PYTHON, Workplace
from tests.integrations.scripted_hub import CLOSES, Request, ScriptedHub, scripted
from tests.integrations.test_watch import HEADING, SESSION, program, watching
from tests.timing import PATIENCE_SECONDS, wait_until

MOST_KIB = 20 * 1024


# Answers that are none.
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
NONE, CUT_OFF, NOT_HTTP = b"", b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{", b"\x00 SSH-2.0\r\n"


def message(number: int, text: str) -> dict[str, Any]:
    return {"id": number, "from": "ben", "type": "info", "priority": "medium", "text": text}


@dataclass
class Project:
    """What a hub answers, to whoever asks; waits last until there is mail, or their time is over."""

    hub: ScriptedHub
    mail: list[dict[str, Any]] = field(default_factory=list)
    status: str = "200 OK"
    changed: threading.Condition = field(default_factory=threading.Condition)
    waiting: int = 0

    def send(self, number: int, text: str) -> None:
        with self.changed:
            self.mail.append(message(number, text))
            self.changed.notify_all()

    def answer(self, request: Request) -> None:
        path, _, query = request.target.partition("?")
        name = path.rpartition("/api/v1/")[2].removeprefix("projects/apollo/")
        if name == "messages/" and "wait_seconds" in query and self.status.startswith("200"):
            self._wait()
        since = int(query.partition("since=e")[2].partition("&")[0] or 1)
        answers = {
            "me/": {"project": "apollo", "agent": "ada", "pinned": True},
            "nudge/": {"text": "", "messages": 0, "cursor": "e1"},
            "updates/": {"cursor": f"e{1 + len(self.mail)}"},
            "messages/": {"items": self.mail[since - 1 :]},
        }
        body = answers.get(name, {"items": []})
        request.send(json.dumps(body).encode(), status=self.status)

    def _wait(self) -> None:
        with self.changed:
            known = len(self.mail)
            self.waiting += 1
            self.changed.wait_for(lambda: len(self.mail) > known, 2)
            self.waiting -= 1

    def is_waited_at(self) -> bool:
        return self.waiting > 0


@pytest.fixture
def project() -> Iterator[Project]:
    with scripted() as hub:
        made = Project(hub)
        hub.usual = made.answer
        yield made


@pytest.fixture
def at(workplace: Workplace, project: Project) -> Workplace:
    workplace.variables |= {"CTXHUB_URL": project.hub.url, **SESSION}
    return workplace


def test_a_short_absence_is_not_told_and_nothing_is_lost(at: Workplace, project: Project) -> None:
    with watching(at, started=project.is_waited_at) as watch:
        project.hub.end()
        project.mail.append(message(1, "Meanwhile."))
        project.hub.begin()
        assert watch.line() == 'message:1 from ben: "Meanwhile."'
        wait_until(project.is_waited_at)
        project.send(2, "After.")
        assert watch.line(2) == 'message:2 from ben: "After."'


def test_an_absence_is_told_and_its_end(at: Workplace, project: Project) -> None:
    with watching(at, started=project.is_waited_at, away=1.0) as watch:
        project.hub.end()
        told = f"ctxhub: the hub at {project.hub.url} has been away for 1 s (it does not answer): "
        assert watch.line().startswith(told)
        project.hub.begin()
        assert watch.line(2) == f"ctxhub: the hub at {project.hub.url} is back."
        wait_until(project.is_waited_at)
        assert watch.is_silent(2)


def test_a_hub_that_answers_errors_is_away(at: Workplace, project: Project) -> None:
    with watching(at, "--json", started=project.is_waited_at, away=1.0) as watch:
        project.status = "503 Service Unavailable"
        told = json.loads(watch.line())
        assert (told["kind"], told["state"]) == ("hub", "away")
        assert "(HTTP 503)" in told["line"]
        project.status = "200 OK"
        assert json.loads(watch.line(2))["state"] == "back"


def test_a_hub_that_hangs_is_asked_anew(at: Workplace, project: Project) -> None:
    silence = threading.Event()
    with watching(at, started=project.is_waited_at, answer=0.5) as watch:
        project.hub.acts += [lambda _: (silence.wait(PATIENCE_SECONDS) and CLOSES) or CLOSES] * 2
        wait_until(lambda: not project.hub.acts)
        project.send(1, "After.")
        assert watch.line() == 'message:1 from ben: "After."'
        silence.set()


@pytest.mark.parametrize("broken", [NONE, CUT_OFF, NOT_HTTP])
def test_a_connection_that_breaks_loses_nothing(at: Workplace, project: Project, broken: bytes) -> None:
    def breaks(request: Request) -> str:
        request.line.sendall(broken)
        return CLOSES

    with watching(at, started=project.is_waited_at) as watch:
        project.hub.acts += [breaks] * 3
        wait_until(lambda: not project.hub.acts)
        project.send(1, "After.")
        assert watch.line() == 'message:1 from ben: "After."'
        assert watch.is_silent(1)


def test_a_hub_that_cannot_let_requests_wait_is_not_asked_in_a_storm(at: Workplace, project: Project) -> None:
    project.changed.wait_for = lambda *_: True  # type: ignore[method-assign, assignment]
    with watching(at, started=lambda: len(project.hub.got) >= 8):
        asked = [request.target for request in project.hub.got]
        # Every 2 seconds: the next wait, and what it was not told of.
        assert sum("wait_seconds" in target for target in asked) <= 3


def test_a_token_that_is_refused_ends_it_with_what_mends_it(at: Workplace, project: Project) -> None:
    with watching(at, started=project.is_waited_at) as watch:
        project.status = "401 Unauthorized"
        assert "refuses the token" in watch.line()
        assert "` gets another one." in watch.line()
        assert watch.end() == 1
    assert len(watch.lines) == 1


def test_without_a_token_it_says_so_and_ends(at: Workplace) -> None:
    at.variables["CTXHUB_TOKEN"] = ""
    done = at.run("watch")
    assert (done.code, done.err) == (1, "")
    assert done.out.startswith("ctxhub: CTXHUB_TOKEN is not set")
    assert done.out.count("\n") == 1


def test_an_unknown_option_is_refused(at: Workplace) -> None:
    done = at.run("watch", "--jsn")
    assert (done.code, done.out) == (1, "")
    assert "--jsn" in done.err


# -- The end -------------------------------------------------------------------------------------------


@pytest.fixture
def _nothing_ignored() -> Iterator[None]:
    """Where the tests themselves ignore a signal, as under nohup, what they start would, too."""
    ignored = [each for each in SIGNALS if signal.getsignal(each) == signal.SIG_IGN]
    for each in ignored:
        signal.signal(each, signal.SIG_DFL)
    yield
    for each in ignored:
        signal.signal(each, signal.SIG_IGN)


@pytest.mark.usefixtures("_nothing_ignored")
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_it_at_once_and_quietly(
    at: Workplace, project: Project, number: signal.Signals
) -> None:
    with watching(at, started=project.is_waited_at) as watch:
        watch.process.send_signal(number)
        assert watch.end() == 0
    assert watch.lines == []


def test_it_ends_when_nobody_reads(at: Workplace, project: Project) -> None:
    with subprocess.Popen(
        [PYTHON, "-IS", str(program()), "watch"],
        cwd=at.repository,
        env=at.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        wait_until(project.is_waited_at)
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.wait(PATIENCE_SECONDS) == 0
        assert process.stderr.read() == b""


@pytest.mark.parametrize("ended", ["client", "shell"])
def test_it_ends_with_its_client_and_its_shell(at: Workplace, project: Project, ended: str) -> None:
    """A client's shell outlives it, and waits for the command for ever."""
    client = at.folder / "claude"
    shutil.copy(Path("/bin/sh").resolve(), client)
    watch, ids = f"'{PYTHON}' -IS '{program()}' watch", at.folder / "ids"
    inner = f"echo $$ >> '{ids}'; {watch} > '{at.folder}/lines' 2>&1 & echo $! >> '{ids}'; wait; exit"
    (at.folder / "shell.sh").write_text(inner)
    outer = f"sh '{at.folder}/shell.sh' & wait; exit"
    process = subprocess.Popen([str(client), "-c", outer], cwd=at.repository, env=at.environment)
    try:
        wait_until(project.is_waited_at)
        shell, own = map(int, ids.read_text().split())
        if ended == "client":
            process.kill()
            process.wait()
        else:
            subprocess.run(["kill", "-9", str(shell)], check=True)
        wait_until(lambda: not is_running(own))
        assert (at.folder / "lines").read_text() == ""
    finally:
        process.kill()
        process.wait()
        for each in ids.read_text().split():
            subprocess.run(["kill", "-9", each], check=False, capture_output=True)


def is_running(process_id: int) -> bool:
    stat = Path(f"/proc/{process_id}/stat")
    return stat.exists() and ") Z " not in stat.read_text()


# -- Costs ---------------------------------------------------------------------------------------------


def test_it_costs_one_connection_and_little_memory(at: Workplace, project: Project) -> None:
    with watching(at, started=lambda: len(project.hub.got) >= 12) as watch:
        assert project.hub.connections == 1
        status = Path(f"/proc/{watch.process.pid}/status").read_text()
        [peak] = [line for line in status.splitlines() if line.startswith("VmHWM")]
        assert int(peak.split()[1]) <= MOST_KIB
        project.send(1, "One.")
        assert watch.lines == [] or watch.lines[0].startswith(HEADING)
