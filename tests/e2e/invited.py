"""Somebody who was invited: a browser, a machine with one client, and the time that all of it takes them."""

import json
import os
import queue
import re
import subprocess
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.core.command_line import Installation, migrated_installation
from tests.hub import LiveHub
from tests.integrations.hook import Workplace
from tests.integrations.tls import TlsHub, tls_proxy
from tests.timing import PATIENCE_SECONDS

PASSWORD = "correct-horse-battery"
CODE = re.compile(r"    ([A-Z]{4}-[A-Z]{4})\n")
OPEN = re.compile(r"Open (\S+) and type the code:")
# What the brief has to tell.
KEY, VALUE = "api/auth/method", "Stateless: any worker can check a JWT."
# For each field that a person fills, each button that they press, each line that they copy, paste or confirm.
SECONDS_OF_A_STEP = 2.0
MOST_SECONDS = 60.0


@dataclass
class Stopwatch:
    """Seconds of the machine by what they were spent on, and the person's steps."""

    machine: dict[str, float] = field(default_factory=dict)
    steps: int = 0
    _since: float = field(default_factory=time.monotonic)

    def step(self, number: int = 1) -> None:
        self.steps += number

    def note(self, what: str) -> None:
        """What it did since the last note."""
        now = time.monotonic()
        self.machine[what] = round(now - self._since, 2)
        self._since = now

    def skip(self) -> None:
        """What was done since the last note is the test's own."""
        self._since = time.monotonic()

    @property
    def person_seconds(self) -> float:
        return self.steps * SECONDS_OF_A_STEP

    @property
    def seconds(self) -> float:
        return self.person_seconds + sum(self.machine.values())

    @property
    def told(self) -> str:
        person = f"{self.seconds:.1f} s, {self.person_seconds:.0f} of them for {self.steps} steps of a person"
        return ", ".join([person, *(f"{what} {seconds}" for what, seconds in self.machine.items())])

    def tell(self, record: Callable[[str, object], None], client: str) -> None:
        for name, value in {"client": client, "told": self.told, **self.machine}.items():
            record(name, value)

    @property
    def most_seconds(self) -> float:
        """Longer on a machine on which more runs at once than it has processors."""
        return MOST_SECONDS * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


@contextmanager
def hub_behind_tls(folder: Path) -> Iterator[tuple[TlsHub, Installation]]:
    """As docs/team-server.md sets one up, with the project apollo and the administrator root."""
    with tls_proxy(folder) as (proxy, lead_to), migrated_installation() as at:
        at.environment.update(
            CTXHUB_BASE_URL=proxy.url, CTXHUB_BEHIND_PROXY="true", CTXHUB_HSTS_SECONDS="31536000"
        )
        at.environment.update(DJANGO_SUPERUSER_USERNAME="root", DJANGO_SUPERUSER_PASSWORD=PASSWORD)
        done = at.run("setup", "--project", "apollo", "--no-input")
        assert done.returncode == 0, done.stderr
        with at.serving("--port", "0") as server:
            lead_to(server.hub)
            decide(at, server.hub)
            yield proxy, at


def decide(at: Installation, hub: LiveHub) -> None:
    """An agent of others decides what the first brief has to tell."""
    token = at.run("token", "create", "--project", "apollo", "--agent", "ada", "--plain").stdout.strip()
    reply = hub.rest(token).post("decisions/", {"key": KEY, "value": VALUE})
    assert reply.status == 201, reply


@contextmanager
def visitor(browser: Browser) -> Iterator[BrowserContext]:
    """A browser of somebody's own that trusts the certificate, and whose console tells of nothing wrong."""
    context = browser.new_context(ignore_https_errors=True)
    context.set_default_timeout(PATIENCE_SECONDS * 1_000)
    expect.set_options(timeout=PATIENCE_SECONDS * 1_000)
    problems: list[str] = []
    context.on(
        "console",
        lambda told: problems.append(told.text) if told.type in ("error", "warning") else None,
    )
    context.on("weberror", lambda error: problems.append(str(error.error)))
    yield context
    context.close()
    assert problems == []


def invite(browser: Browser, hub: TlsHub) -> str:
    """The link that an administrator hands over."""
    with visitor(browser) as context:
        page = context.new_page()
        page.goto(f"{hub.url}/admin/core/invitation/add/?project=apollo")
        page.get_by_label("Username").fill("root")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Log in").click()
        page.locator("[name=name]").fill("Grace")
        page.locator("[name=role]").select_option(label="member: can read and write")
        page.get_by_role("button", name="Save", exact=True).click()
        return page.locator("#secret").inner_text()


@dataclass
class Guest:
    """Who has got the link. `environment`: of the shell on their machine."""

    context: BrowserContext
    workplace: Workplace
    environment: dict[str, str]
    watch: Stopwatch = field(default_factory=Stopwatch)

    def join(self, link: str) -> Page:
        """From the link to the page after joining."""
        self.watch.skip()
        page = self.context.new_page()
        self.watch.step()  # Opens the link.
        page.goto(link)
        for name, text in (("username", "grace"), ("password1", PASSWORD), ("password2", PASSWORD)):
            self.watch.step()
            page.locator(f"[name={name}]").fill(text)
        self.watch.step()
        page.get_by_role("button", name="Join").click()
        expect(page.get_by_role("heading", name=re.compile("You belong to apollo now"))).to_be_visible()
        expect(page.locator("#connected")).to_contain_text("Waiting for the first call.")
        self.watch.note("joining")
        return page

    def connect(self, page: Page) -> str:
        """The line of the page in the folder of their work, and the code at the page that it names."""
        self.watch.step(2)  # Copies the line, and pastes it.
        line = page.locator(".ctx-copy code.ctx-code").first.inner_text()
        shell = Shell(line, self.workplace.repository, self.environment)
        code, address = shell.wait_for(CODE), shell.wait_for(OPEN)
        self.watch.note("the program asks")
        self.approve(page, address, code)
        said = shell.finish()
        self.watch.note("the program writes")
        return said

    def approve(self, joined: Page, address: str, code: str) -> None:
        """In a page beside the one that waits. The program says its address, too."""
        self.watch.step()
        with self.context.expect_page() as opened:
            joined.get_by_role("link", name="type here").click()
        page = opened.value
        expect(page).to_have_url(address)
        expect(page.get_by_label("The code that the program shows")).to_be_focused()
        self.watch.step()
        page.keyboard.type(code)
        self.watch.step()
        page.keyboard.press("Enter")
        self.watch.step()
        page.get_by_role("button", name="Approve").click()
        expect(page.get_by_role("heading", name="Approved")).to_be_visible()
        self.watch.note("approving")

    @property
    def settings(self) -> "Settings":
        return Settings(self.workplace)


class Shell:
    """A line that runs in a shell, whose lines are read as they come."""

    def __init__(self, line: str, folder: Path, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            ["sh", "-c", line],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.said = ""
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def wait_for(self, pattern: re.Pattern[str]) -> str:
        while not (found := pattern.search(self.said)):
            line = self._lines.get(timeout=PATIENCE_SECONDS)
            assert line, f"it has ended: {self.said}"
            self.said += line
        return found[1]

    def finish(self) -> str:
        while line := self._lines.get(timeout=PATIENCE_SECONDS):
            self.said += line
        assert self.process.wait(PATIENCE_SECONDS) == 0, self.said
        return self.said


@dataclass
class Settings:
    """What stands in the files of clients, read as they read it."""

    workplace: Workplace

    def hook(self, client: str, event: str) -> str:
        names = {"claude-code": ".claude/settings.local.json", "codex": ".codex/hooks.json"}
        settings = json.loads((self.workplace.repository / names[client]).read_text())
        [group] = settings["hooks"][event]
        [hook] = group["hooks"]
        command: str = hook["command"]
        return command

    def server(self, client: str) -> dict[str, Any]:
        found: dict[str, Any]
        if client == "claude-code":
            config = json.loads((self.workplace.folder / "home" / ".claude.json").read_text())
            found = config["projects"][str(self.workplace.repository)]["mcpServers"]["ctxhub"]
            return found
        text = (self.workplace.repository / ".codex" / "config.toml").read_text()
        found = tomllib.loads(text)["mcp_servers"]["ctxhub"]
        return found
