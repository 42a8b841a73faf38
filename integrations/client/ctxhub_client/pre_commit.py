"""The guard of commits, which git's hook runs: it may refuse staged files."""

from __future__ import annotations

import os

from ctxhub_client.git import run_git
from ctxhub_client.hub import EXACT, MOST_PATHS, Hub
from ctxhub_client.leases import exclusive_leases, held_by, leases_on
from ctxhub_client.paths import Project
from ctxhub_client.sessions import committing_session
from ctxhub_client.settings import enforcement
from ctxhub_client.texts import NOTE, one_line

REFUSED = 77


def guard_commit(names: list[str]) -> int:
    """77 if a staged file is under the exclusive lease of another agent; 0 otherwise, and without a hub."""
    mode = enforcement()
    paths = staged_paths(names) if mode != "off" else []
    hub = Hub(*committing_session(), ignores_pause=True)
    if paths and hub.problem:
        tell(hub.problem, "Leases were not checked.")
    if not paths or hub.is_down:
        return 0
    refused: list[str] = []
    for first in range(0, len(paths), MOST_PATHS):
        refused += leased(hub, paths[first : first + MOST_PATHS])
    if hub.is_down:
        tell("ctxhub does not answer: leases were not checked.")
    if not refused:
        return 0
    advice = "" if mode == "warn" else " Ask the holder, or commit with --no-verify."
    tell("Another agent or session has leased what is staged." + advice, NOTE, *refused)
    return 0 if mode == "warn" else REFUSED


def leased(hub: Hub, paths: list[str]) -> list[str]:
    """A line for each of up to 50 paths that another agent has leased."""
    check = hub.post("check/", dict(EXACT, paths=paths))
    if hub.status == 400 and len(paths) > 1:
        # The hub takes one of the names for no path: it must not hide the others.
        middle = len(paths) // 2
        return leased(hub, paths[:middle]) + leased(hub, paths[middle:])
    is_known = check is not None or hub.status == 404
    if not is_known or (check is not None and not exclusive_leases(hub, check, paths)):
        return []
    return [
        "{} is {}".format(one_line(path), held_by(lease))
        for path in paths
        for lease in leases_on(hub, path)[:1]
    ]


def staged_paths(names: list[str]) -> list[str]:
    project = Project("")
    if names:
        return [path for path in map(project.relative, names) if path]
    listed = run_git("diff", "--cached", "--name-only", "--no-renames", "-z")
    staged = listed.decode("utf-8", "replace").split("\0")
    return [project.prefix + path for path in staged if path and "�" not in path]


def tell(*lines: str) -> None:
    os.write(2, "".join("ctxhub: {}\n".format(line) for line in lines).encode("utf-8", "replace"))
