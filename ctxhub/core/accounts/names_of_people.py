"""Which names belong to people: no agent may speak under the username of a member or of a superuser."""

import threading
import time
import unicodedata
from collections.abc import Iterable

from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import NotAllowed, shown
from ctxhub.core.kit.inputs import WORD_LENGTH
from ctxhub.core.kit.replaced_file import when_replaced
from ctxhub.core.models import Agent
from ctxhub.core.text.invisible import bare

REMEMBERED_SECONDS = 5.0
MOST_REMEMBERED = 1_000


def name_key(name: str) -> str:
    """What makes two names one: without case, widths, ligatures and what nobody sees, as usernames are."""
    if name.isascii():
        return name.strip().casefold()
    plain = unicodedata.normalize("NFKC", bare(name))
    return unicodedata.normalize("NFKC", plain.casefold()).strip()


def acting_name(username: str) -> str:
    """The agent as which a person acts."""
    return username[:WORD_LENGTH]


def refuse_name_of_person(caller: Caller) -> None:
    """Raise NotAllowed, with a free name, for an agent whose name is a person's.

    A token that is pinned to the name goes on: the name became a person's after it was made, or both are
    older than this rule. It costs no query while the names of the project are remembered.
    """
    if caller.is_person or caller.pinned:
        return
    if name_key(caller.agent) in _remembered_names(caller.project_id):
        raise name_of_person(caller.project_id, caller.agent)


def is_name_of_person(project_id: int, name: str) -> bool:
    """Like `refuse_name_of_person`, from the database: for a new agent, while its project is locked."""
    return name_key(name) in find_names_of_people(project_id)


def name_of_person(project_id: int, name: str) -> NotAllowed:
    """The error for an agent with the name of a person."""
    return NotAllowed(
        f"{shown(name)} is the name of a person here, and only they write under it. "
        f"Speak as another agent, such as {find_free_name(project_id, name)!r}.",
        hint="The header Ctxhub-Agent (hooks: CTXHUB_AGENT), the argument agent, or runmcp --agent names it.",
    )


def find_free_name(project_id: int, name: str) -> str:
    """A name like it that neither a person nor an agent of the project has: `ada-agent`, `ada-agent-2`."""
    taken = find_names_of_people(project_id) | agent_keys(project_id)
    return free_name(name, taken)


def free_name(name: str, taken: Iterable[str], ending: str = "-agent") -> str:
    """The first of `name-agent`, `name-agent-2` and so on whose key is not in `taken`."""
    keys, number = set(taken), 1
    while True:
        tail = ending if number == 1 else f"{ending}-{number}"
        candidate = f"{name.strip()[: WORD_LENGTH - len(tail)]}{tail}"
        if name_key(candidate) not in keys:
            return candidate
        number += 1


def agent_keys(project_id: int) -> frozenset[str]:
    """The keys of the names of all agents of a project."""
    names = Agent.objects.in_project(project_id).values_list("name", flat=True)
    return frozenset(map(name_key, names.iterator()))


def find_names_of_people(project_id: int) -> frozenset[str]:
    """The keys of the usernames of members and superusers, and of the people who have written before."""
    found = sql.rows(_PEOPLE, [True, project_id, project_id, Agent.Kind.HUMAN.value])
    return frozenset(name_key(acting_name(name)) for (name,) in found)


def forget_names() -> None:
    """Forget which names are people's: the next call of each project reads them again."""
    global _generation
    with _lock:
        _generation += 1
        _names.clear()


def _remembered_names(project_id: int) -> frozenset[str]:
    now = time.monotonic()
    until, names = _names.get(project_id, (0.0, frozenset()))
    if until > now:
        return names
    with _lock:
        generation = _generation
    names = find_names_of_people(project_id)
    with _lock:
        if len(_names) > MOST_REMEMBERED:
            _names.clear()
        if generation == _generation:  # Nobody joined since the names were read.
            _names[project_id] = (now + REMEMBERED_SECONDS, names)
    return names


_PEOPLE = """
    SELECT username FROM auth_user WHERE is_superuser = %s
    UNION SELECT u.username FROM core_membership m JOIN auth_user u ON u.id = m.user_id
        WHERE m.project_id = %s
    UNION SELECT name FROM core_agent WHERE project_id = %s AND kind = %s"""

# By project, valid for seconds: members change seldom, and each call asks.
_names: dict[int, tuple[float, frozenset[str]]] = {}
_generation = 0
_lock = threading.Lock()
when_replaced.append(forget_names)
