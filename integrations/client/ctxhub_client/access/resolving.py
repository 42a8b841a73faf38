"""Which hub, and with which token: what the line of a client names, the repository, or the only one there is.

A token of the environment is used with the address of the environment alone: a repository could name any hub.
"""

from __future__ import annotations

import os

from ctxhub_client.access.credentials import matching
from ctxhub_client.git import find_repository
from ctxhub_client.paths import local_path, working_folder
from ctxhub_client.values import read_json, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.access.credentials import Credential
    from ctxhub_client.values import Json

FILE = ".ctxhub.json"
MOST_BYTES = 10_000


def resolve(named: Json) -> Credential | None:
    """`named`: hub, project, agent and client of the command line, each where it was given."""
    wanted = {name: text_of(named, name) for name in ("hub", "project", "agent")}
    if not any(wanted.values()):
        shared = repository_file()
        wanted = {name: text_of(shared, name) for name in wanted}
    found = list(matching(client=text_of(named, "client"), **wanted))
    if not found:
        return None
    # Without a name for one of several hubs or projects none is chosen.
    return found[0] if len({(each.hub, each.project) for each in found}) == 1 else None


def repository_file() -> Json:
    """What `.ctxhub.json` in the repository says: hub, project, and where it wants to, agent."""
    started = local_path(os.environ.get("CLAUDE_PROJECT_DIR", "")) or working_folder()
    repository = find_repository(started)
    top = repository.outermost().top if repository else started
    try:
        with open(os.path.join(top, FILE), "rb") as file:
            return read_json(file.read(MOST_BYTES))
    except OSError:
        return {}
