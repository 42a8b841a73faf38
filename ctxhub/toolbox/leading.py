"""The rule for suggestions: none leads to a write on something else than the call was about.

Whoever follows a suggestion does so without a second thought. So a name that reads leads to no write, a name
that keeps something to nothing that takes away, and a write of one kind of object to no write of another.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum

from ctxhub.core.kit.frozen import frozen
from ctxhub.toolbox.actions import Action, Tool
from ctxhub.toolbox.aliases import REMOVALS
from ctxhub.toolbox.argument_repairs import Repair
from ctxhub.toolbox.meanings import (
    ENDING,
    FILLING,
    KINDS_OF_THEIR_OWN,
    NOUN_KINDS,
    READING,
    TAKES_BACK,
    WRITTEN,
)
from ctxhub.toolbox.spelling import in_singular, snake, squeezed


class Does(Enum):
    """What a name says that a call does."""

    READS = "reads"
    WRITES = "writes"
    ENDS = "ends"


@frozen
class Said:
    """What the name of an unknown operation says. `kinds`: of the objects that it names, if it names any.

    `is_unclear`: besides verbs and nouns it has words that the hub does not know.
    """

    name: str
    noun: str
    does: Does
    words: Sequence[str]
    kinds: frozenset[str]
    is_unclear: bool

    @classmethod
    def of(cls, name: str, noun: str, tools: Mapping[str, Tool]) -> "Said":
        words = snake(name).split("_")
        nouns = [word for word in map(in_singular, words) if word in NOUN_KINDS]
        nouns = nouns or [word for word in (in_singular(noun),) if word in NOUN_KINDS]
        known = {*REMOVALS, *FILLING, *tools}
        unclear = [word for word in words if word not in known and in_singular(word) not in NOUN_KINDS]
        kinds = frozenset(NOUN_KINDS[word] for word in nouns)
        return cls(name, noun, said_by(name, tools.values()), words, kinds, bool(unclear))


def said_by(name: str, tools: Iterable[Tool]) -> Does:
    """What a name says: by the operations called so, else by its verb.

    If operations disagree it reads: that is never wrong.
    """
    words = snake(name).split("_")
    if not set(REMOVALS).isdisjoint(words):
        return Does.ENDS
    if named := called(name, tools):
        if not all(action.writes for action in named):
            return Does.READS
        return Does.ENDS if any(action.destroys or takes_back(action) for action in named) else Does.WRITES
    if words[0] in READING:
        return Does.READS
    return Does.ENDS if not ENDING.isdisjoint(words) else Does.WRITES


def is_called(action: Action, name: str) -> bool:
    """Whether a name is the action's own, one of its aliases, or its flat one."""
    return squeezed(name) in action.spellings


def called(name: str, tools: Iterable[Tool]) -> list[Action]:
    """The operations of this name in all tools."""
    plain = squeezed(name)
    return [action for tool in tools for action in tool.actions.values() if plain in action.spellings]


def takes_back(action: Action) -> bool:
    return (action.tool, action.name) in TAKES_BACK


def written_kind(action: Action) -> str:
    """The kind of object that an operation writes: `lease` for file.lease."""
    return WRITTEN.get((action.tool, action.name), action.tool)


def may_lead_to(action: Action, said: Said, repaired: Repair) -> bool:
    """Whether the unknown name of an operation may lead to this one of the same tool."""
    if action.reads or (is_called(action, said.name) and is_about(action, said.noun)):
        return True
    if said.does is Does.READS or action.destroys:
        return False
    kind = written_kind(action)
    if (said.kinds or kind in KINDS_OF_THEIR_OWN) and kind not in said.kinds:
        return False
    return not takes_back(action) or (said.does is Does.ENDS and names_its_object(action, repaired))


def is_about(action: Action, noun: str) -> bool:
    """Whether an operation is on what a noun means: on contexts, if that is said, and not on memories."""
    word, written = in_singular(noun), written_kind(action)
    if action.destroys and word not in ("", action.tool):
        return False
    kind = NOUN_KINDS.get(word, action.tool)
    is_tool = kind == action.tool and (word in ("", action.tool) or written not in KINDS_OF_THEIR_OWN)
    return action.reads or is_tool or kind == written


def may_stand_for(action: Action, other: Action, repaired: Repair) -> bool:
    """Whether a call of one operation, whose arguments do not fit, may lead to another one.

    From a read to a read. From a write only to one that does the same to the same kind, in the same tool:
    quick_set and set, never add and update.
    """
    if action.reads:
        return not other.writes and (other.tool == action.tool or not names_an_object(repaired, other))
    is_same_kind = other.tool == action.tool and written_kind(other) == written_kind(action)
    if other.reads or not is_same_kind or other.destroys or takes_back(other):
        return False
    words, others = set(action.name.split("_")), set(other.name.split("_"))
    return words <= others or others <= words


def names_an_object(repaired: Repair, other: Action) -> bool:
    """Whether the call names an object by an id, or a name, that would be of another kind in another tool."""
    is_guess = "key" in repaired.renamed.values()
    return is_guess or any(argument in ("id", "ids") for argument in _covered(repaired, other))


def _covered(repaired: Repair, action: Action) -> Collection[str]:
    return {*repaired.given, *repaired.renamed.values()} & set(action.known)


def names_its_object(action: Action, repaired: Repair) -> bool:
    """Whether the call says which object: all leases are released only by a call that is named so."""
    of_object = [a.name for a in action.arguments.all if a.id_of or a.required]
    return bool(set(of_object) & ({*repaired.given, *repaired.renamed.values()} | set(repaired.missing)))
