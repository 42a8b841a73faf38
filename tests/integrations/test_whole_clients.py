"""The real Claude Code and Codex with bridge and hooks: a window is one session, its writes are told once."""

import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from tests.hub import LiveHub, RestClient
from tests.integrations.claude_code import SECONDS_TO_RUN, make_patient
from tests.integrations.desk import BRIDGES, GETTING, PROGRAM, Desk, Window
from tests.integrations.hook import Workplace
from tests.integrations.model_stand_in import Block, Handler, Step, standing_in, text, use
from tests.integrations.responses_stand_in import ResponsesHandler
from tests.timing import wait_until

pytestmark = [pytest.mark.one_engine, pytest.mark.needs_npm]

CLIENTS = {"claude": Handler, "codex": ResponsesHandler}
MOST_ROWS = 200
RUFF = Path(sys.executable).with_name("ruff")
Changes = Counter[tuple[str, str]]


@pytest.fixture
def desk(workplace: Workplace, hub: LiveHub, apollo: Project) -> Iterator[Desk]:
    """With both clients connected by the program, as docs/hooks.md says. Each has the name of its kind."""
    token = create_token(project=apollo, name="shared", scopes=["read", "write"]).secret
    profile = f"export CTXHUB_URL={hub.url} CTXHUB_TOKEN={token} CTXHUB_AGENT="
    with standing_in() as claude, standing_in(ResponsesHandler) as codex:
        desk = Desk(workplace, profile, claude, codex)
        for command in (GETTING, BRIDGES["claude"], BRIDGES["codex"]):
            desk.type(command)
        desk.trust()
        desk.type(f"{PROGRAM} install claude-code --approve && {PROGRAM} install codex --approve --wait")
        make_patient(workplace.folder)
        name_no_sessions(workplace.folder)
        yield desk


def name_no_sessions(folder: Path) -> None:
    """Let the bridge alone know the session: for those over HTTP a hook adds it to some calls."""
    for tools in folder.rglob("ctxhub_client/hooks/tools.py"):
        source, found = re.subn(r"(?ms)^SPEAKING = \(.*?^\)", "SPEAKING = ()", tools.read_text())
        assert found == 1
        tools.write_text(source)


@pytest.fixture(params=CLIENTS)
def window(desk: Desk, request: Any) -> Window:
    return Window(desk, request.param, getattr(desk, request.param))


@pytest.fixture
def another(desk: Desk, window: Window) -> Iterator[Window]:
    """A second window of the same agent, in the same worktree."""
    with standing_in(CLIENTS[window.client]) as model:
        yield Window(desk, window.client, model)


@pytest.fixture
def observer(desk: Desk, hub: LiveHub) -> "Observer":
    return Observer(hub, desk.profile.partition("CTXHUB_TOKEN=")[2].split()[0])


@dataclass
class Observer:
    """What the hub's REST lists, over new connections: the clients take their time."""

    hub: LiveHub
    token: str

    def get(self, path: str, **query: Any) -> Any:
        rest = RestClient(self.hub.port, self.token, {"Ctxhub-Agent": "observer"}, project="apollo")
        return rest.get(path, **query).body

    def rows(self, path: str) -> list[dict[str, Any]]:
        page = self.get(path, limit=MOST_ROWS)
        found: list[dict[str, Any]] = page["items"]
        assert not page["next"], "there are more"
        return found

    def changes(self) -> Changes:
        return Counter((row["path"], row["change"]) for row in self.rows("changes/"))

    def holders(self) -> list[str]:
        return [lease["session"] for lease in self.rows("leases/")]

    def editors(self) -> set[tuple[str, str]]:
        """Which files were edited, and in which session."""
        return {
            (row["path"], self.get(f"sessions/{row['session']}/")["name"]) for row in self.rows("accesses/")
        }


# -- One session -----------------------------------------------------------------------------------

LEASE = use("mcp__ctxhub__file", action="lease", paths=["src/**"], reason="Rotation")


def test_lease_and_edit_are_of_one_session(window: Window, another: Window, observer: Observer) -> None:
    """The lease is made by a tool over the bridge, the edit is checked and recorded by hooks."""
    during: list[str] = []

    def meanwhile() -> Block:
        during.append(another.ask(another.writes("src/b.py"), another.writes("lib/b.py")))
        during.extend(observer.holders())
        return window.writes("src/a.py")

    session = window.ask(LEASE, meanwhile)
    other, *holders = during
    assert holders == [session], "also after the other window has ended"
    assert "src/b.py: leased by " in another.model.shown(2)
    assert not window.desk.has("src/b.py")
    assert "leased by" not in window.model.shown(3)
    assert observer.editors() == {("src/a.py", session), ("lib/b.py", other)}
    assert observer.holders() == []


def test_a_subagent_is_a_part_of_its_window(window: Window, observer: Observer) -> None:
    during: list[str] = []

    def look() -> Block:
        during.extend(observer.holders())
        return window.writes("src/a.py")

    def look_again() -> Block:
        during.extend(observer.holders())
        return text("Done.")

    session = window.ask(*window.delegates(LEASE, look, text("Written.")), look_again)
    part, *_ = during
    assert part.startswith(f"{session}/")
    assert observer.editors() == {("src/a.py", part)}
    assert during == [part], "free when it stops"
    assert observer.holders() == []


# -- Commands --------------------------------------------------------------------------------------

READS = "cat src/m01.py && ls -R . | head && git status --short && git log --oneline && git diff --stat"
PYTHON = """python3 - <<'END'
from pathlib import Path
for number in range(25):
    Path(f"data/{number}.json").write_text('{"number": %d}' % number)
for page in sorted(Path("docs").glob("p0*.md")):
    page.write_text(page.read_text().upper())
END"""
COMMANDS = (
    READS,
    "sed -i 's/one/two/' docs/*.md",
    "sed -i 's/rare/usual/' src/*.py",
    "cat > 'docs/a new page.md' <<'END'\n# Ünïcode\nEND",
    'mkdir -p gen data && for n in $(seq 20); do cat > "gen/n$n.txt" <<END\nnumber $n\nEND\ndone',
    PYTHON,
    """python3 -c 'open("gen/n1.txt", "a").write("more"); open("gen/é.txt", "w").write("new")'""",
    f"{RUFF} format --quiet src",
    f"{RUFF} format --quiet src",
    READS,
    "git add -A && git commit -qm Second",
    "git checkout -q -b topic",
    "echo more >> docs/p01.md; rm data/1.json data/2.json; git mv src/m02.py src/moved.py",
    "sed -i 's/two/three/' docs/p1*.md && git add -A && git commit -qm Third",
    "echo more >> docs/p02.md; ls nowhere",
    READS,
)
BEHIND = "sleep 2; echo later > gen/later.txt"


@dataclass
class Tree:
    """A repository, and what has really changed in it: its contents, compared between commands."""

    workplace: Workplace
    seen: dict[str, bytes] = field(default_factory=dict)
    changed: Changes = field(default_factory=Counter)

    def __post_init__(self) -> None:
        for number in range(40):
            rare = "rare" if number % 10 == 0 else "plain"
            self.workplace.write(f"src/m{number:02}.py", f"a = {{  'is':'{rare}'}}\n")
            self.workplace.write(f"docs/p{number:02}.md", "one\n")
        self.workplace.git("config", "user.email", "ada@example.com")
        self.workplace.git("config", "user.name", "Ada")
        self.workplace.git("add", "-A")
        self.workplace.git("commit", "-qm", "First")
        self.seen = self.contents()

    def contents(self) -> dict[str, bytes]:
        listed = self.workplace.git("ls-files", "-zco", "--exclude-standard").split("\0")
        files = {path: self.workplace.repository / path for path in listed if path}
        return {path: file.read_bytes() for path, file in files.items() if file.exists()}

    def note(self) -> None:
        before, self.seen = self.seen, self.contents()
        for path in {*before, *self.seen}:
            if before.get(path) != self.seen.get(path):
                kind = "created" if path not in before else "modified" if path in self.seen else "deleted"
                self.changed[path, kind] += 1

    def then(self, block: Block) -> Callable[[], Block]:
        def step() -> Block:
            self.note()
            return block

        return step

    def when_there(self, path: str, block: Block) -> Step:
        def step() -> Block:
            wait_until((self.workplace.repository / path).exists)
            return self.then(block)()

        return step


def test_what_commands_write_is_recorded_and_nothing_else(
    window: Window, observer: Observer, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = Tree(window.desk.workplace)
    steps: list[Step] = [tree.then(window.runs(command)) for command in COMMANDS]
    steps += [window.runs_behind(BEHIND), tree.when_there("gen/later.txt", text("Done."))]
    window.ask(*steps)

    recorded = observer.changes()
    missing, invented = tree.changed - recorded, recorded - tree.changed
    files = len({path for path, _ in tree.changed})
    told = f"{tree.changed.total()} changes of {files} files by {len(COMMANDS) + 1} commands"
    with capsys.disabled():
        sys.stdout.write(
            f"\n{window.client}: {told}; not recorded: {dict(missing)}, invented: {dict(invented)}\n"
        )
    assert files > 100
    assert not invented
    assert not missing


# -- Two windows -----------------------------------------------------------------------------------

LONG = "; sleep 3"
ROUNDS: tuple[tuple[str, str, list[tuple[str, str]]], ...] = (
    # What the one and the other runs at the same time, and what becomes of it.
    (
        "for n in 1 2 3; do echo one > a$n; done",
        "for n in 1 2 3; do echo one > b$n; done" + LONG,
        [(f"{letter}{n}", "created") for letter in "ab" for n in "123"],
    ),
    (
        "sed -i s/one/two/ b?" + LONG,
        "sed -i s/one/two/ a?",
        [(f"{letter}{n}", "modified") for letter in "ab" for n in "123"],
    ),
    (
        "sleep 1; git add -A; git commit -qm Second",
        "echo one > c1; sleep 3; echo one > c2",
        [("c1", "created"), ("c2", "created")],
    ),
    (
        "rm a1 c1" + LONG,
        "sleep 1; echo three > b1; rm b2",
        [("a1", "deleted"), ("c1", "deleted"), ("b1", "modified"), ("b2", "deleted")],
    ),
    (READS, READS, []),
)


def test_two_windows_in_one_tree_record_each_change_once(
    window: Window, another: Window, observer: Observer
) -> None:
    Tree(window.desk.workplace)
    together = threading.Barrier(2)

    def at_once(whose: Window, command: str) -> Step:
        def step() -> Block:
            together.wait(SECONDS_TO_RUN)
            return whose.runs(command)

        return step

    with ThreadPoolExecutor(2) as pool:
        ones = [at_once(window, one) for one, _, _ in ROUNDS]
        others = [at_once(another, other) for _, other, _ in ROUNDS]
        asked = [pool.submit(window.ask, *ones), pool.submit(another.ask, *others)]
        sessions = {each.result() for each in asked}
    expected = Counter(change for _, _, changes in ROUNDS for change in changes)
    assert observer.changes() == expected
    assert {session for _, session in observer.editors()} == sessions
