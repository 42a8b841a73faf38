"""The folder: its repository, how long a look at it takes, the guard of commits, and the window around."""

from __future__ import annotations

import os
import shutil
import time

from ctxhub_client.doctor.findings import NOTE, OK, PROBLEM, WARNING, Finding
from ctxhub_client.hooks.commands import MOST_SLOW, SLOW_SECONDS
from ctxhub_client.install.blocks import BLOCK
from ctxhub_client.install.files import Refused, read_file
from ctxhub_client.install.git_hooks import hook_file, warning
from ctxhub_client.settings import shell_mode
from ctxhub_client.shell.worktree import look_at
from ctxhub_client.store import Store
from ctxhub_client.values import number_of, text_of
from ctxhub_client.windows import joining
from ctxhub_client.windows.processes import finder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.git import Repository
    from ctxhub_client.install.program import Program
    from ctxhub_client.paths import Project

LOOKS = 3


def findings(project: Project, program: Program) -> list[Finding]:
    repository = project.repository
    if repository is None:
        text = "{} is in no git repository: what commands write is not found".format(project.folder)
        return [Finding("repository", WARNING, text), *state_findings(), *window_findings()]
    within = ", a submodule: files begin with {}".format(project.prefix) if project.prefix else ""
    text = "{}, on {}{}".format(repository.top, repository.branch or "no branch", within)
    return [
        Finding("repository", OK, text),
        shell_finding(repository),
        guard_finding(repository, program),
        *state_findings(),
        *window_findings(),
    ]


def shell_finding(repository: Repository) -> Finding:
    if shutil.which("git") is None:
        return Finding("commands", WARNING, "git is not on PATH: what commands write is not found")
    if shell_mode() == "off":
        return Finding("commands", NOTE, "CTXHUB_SHELL=off: what they write is not recorded")
    took = []
    for _ in range(LOOKS):
        began = time.monotonic()
        if look_at(repository) is None:
            text = "git status does not answer in time: what commands write is not found"
            return Finding("commands", WARNING, text, "`git status` in {} shows why.".format(repository.top))
        took.append(time.monotonic() - began)
    text = "a look at what they wrote takes {:.0f} ms".format(sorted(took)[LOOKS // 2] * 1_000)
    late = sum(number_of(each, "slow") >= MOST_SLOW for each in Store().all("turn-"))
    if sorted(took)[LOOKS // 2] > SLOW_SECONDS:
        fix = "`git config core.fsmonitor true` and `core.untrackedCache true` make git status faster."
        return Finding("commands", WARNING, text + ": so only at the end of turns", fix)
    if late:
        told = "{}; {} sessions of the last days looked at the end of turns alone, as theirs took longer"
        return Finding("commands", NOTE, told.format(text, late))
    return Finding("commands", OK, text + ", twice a command" if shell_mode() == "each" else text)


def guard_finding(repository: Repository, program: Program) -> Finding:
    fix = "`{} install pre-commit` adds it.".format(program.shown())
    try:
        file = hook_file(repository.top)
        text = read_file(file)
    except (OSError, Refused) as error:
        return Finding("commits", WARNING, str(error))
    if BLOCK.search(text) is None:
        return Finding("commits", NOTE, "no guard in {}".format(file), fix)
    if os.name != "nt" and not os.access(file, os.X_OK):
        return Finding("commits", PROBLEM, "{} is not executable: git does not run it".format(file), fix)
    if told := warning(BLOCK.sub("", text), program.shown()):
        return Finding("commits", WARNING, "guarded by {}".format(file), told.strip())
    return Finding("commits", OK, "guarded by {}".format(file))


def state_findings() -> list[Finding]:
    """Where hooks cannot keep what they told, they tell everything each time."""
    found = []
    for folder in (Store().folder, joining.state_folder()):
        above = folder
        while not os.path.exists(above) and os.path.dirname(above) != above:
            above = os.path.dirname(above)
        if not os.access(above, os.W_OK):
            found.append(Finding("state", WARNING, "{} cannot be written".format(folder)))
    return found


def window_findings() -> list[Finding]:
    """The session of the client that runs this, where one of its windows does."""
    client = joining.client_of(finder())
    told = joining.read_file(joining.path_of(client, joining.SESSION)) if client else {}
    if client is None or not told or told.get("ended"):
        return []
    named = text_of(told, "name")
    if not named:
        text = "{} has several conversations in one process: tools are not joined with hooks"
        return [Finding("window", NOTE, text.format(client.name))]
    start = "{}-{}.".format(client.id, client.started)
    bridges = [
        name
        for name in joining.names_left()
        if name.startswith(start) and name.endswith(joining.BRIDGE) and joining.is_living(name)
    ]
    if len(bridges) == 1:
        return [Finding("window", OK, "session {}, with its bridge".format(named))]
    text = "session {}, with {} bridges: its tools are not joined with its hooks"
    return [Finding("window", NOTE if not bridges else WARNING, text.format(named, len(bridges) or "no"))]
