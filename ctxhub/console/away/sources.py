"""What apps tell of the agents' work: they append to these lists, since core imports no app."""

from collections.abc import Callable, Mapping, Sequence

from django.http import HttpRequest

from ctxhub.console.timeline.periods import Period
from ctxhub.core.kit.frozen import frozen

AgentKey = tuple[int, int | None]
"""The ids of a project and of an agent in it; None for what no agent did."""

Details = Mapping[AgentKey, Sequence[str]]
"""For each agent the words of what is most worth telling: a key, its old value, its new value."""


@frozen
class Kind:
    """Objects that the log calls by a noun, as a sentence counts them: 3 `plural`.

    `verbs`, `prefix`: only what these verbs did, only refs that begin so. Kinds are told by `place`.
    `within(first, last)`: the words that follow the number, from the first and the last ref, by code points.
    `details`: reads what to say in brackets, of all agents in one statement.
    """

    noun: str
    plural: str
    place: int
    verbs: Sequence[str] = ()
    prefix: str = ""
    within: Callable[[str, str], str] | None = None
    details: Callable[[Sequence[int], Period], Details] | None = None


kinds: list[Kind] = []
# For agents, by id, how much of what they sent waits for the person who asks.
waiting: list[Callable[[HttpRequest], Mapping[int, int]]] = []
