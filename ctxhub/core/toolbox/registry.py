"""`@action`: the registry of every operation an agent can call. Knows nothing of MCP."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import cleandoc
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

from ctxhub.core.caller import ADMIN, READ, WRITE
from ctxhub.core.errors import InvalidInput, nearest, shown
from ctxhub.core.listing import Listing
from ctxhub.core.readings import Reading
from ctxhub.core.toolbox.arguments import Arguments

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


@dataclass(frozen=True)
class Action:
    """One operation. `doc` is its docstring: the first sentence for lists, the whole for `help`."""

    tool: str
    name: str
    run: Callable[..., Any]
    scope: str
    writes: bool
    destroys: bool
    idempotent: bool
    dry_scope: str
    example: Mapping[str, Any]
    also_known_as: tuple[str, ...]
    answers: tuple[type, ...]
    arguments: Arguments
    doc: str
    takes_all_of: str = ""

    def scope_of(self, arguments: Mapping[str, Any]) -> str:
        """What a call of it needs: one that only tries may need less."""
        is_dry = str(arguments.get("dry_run")).lower() == "true"
        return self.dry_scope if self.dry_scope and is_dry else self.scope

    @property
    def call(self) -> str:
        """`decision.set`, or the tool's name where it has one operation."""
        return f"{self.tool}.{self.name}" if self.name else self.tool

    @property
    def flat_name(self) -> str:
        return f"{self.tool}_{self.name}" if self.name else self.tool

    @property
    def common(self) -> tuple[str, ...]:
        """What a call takes beside the action's own arguments."""
        shaping = [("format", self.answers_list), ("max_tokens", self.takes_budget)]
        return ("agent", *(name for name, is_taken in shaping if is_taken))

    @property
    def answers_list(self) -> bool:
        return Listing in self.answers

    @property
    def takes_budget(self) -> bool:
        """It answers a list or what is read in parts: `max_tokens` cuts it."""
        return bool(self.answers)

    @property
    def summary(self) -> str:
        return self.doc.partition("\n\n")[0].replace("\n", " ")

    def signature(self, told: set[str]) -> str:
        """What a tool's description says of it; what another action takes too is said there.

        `told`: the arguments whose words the description has named before, and now those named here.
        """
        taken = _tools[self.tool].actions[self.takes_all_of].arguments.names if self.takes_all_of else ()
        own = [argument for argument in self.arguments.all if argument.name not in taken]
        gists = [argument.gist(is_told=argument.says_what in told) for argument in own]
        told |= {argument.says_what for argument in own}
        rest = f"+ what {self.takes_all_of} takes" if self.takes_all_of else ""
        return " ".join([self.name, *gists, rest]).strip()


@dataclass(frozen=True)
class Tool:
    """A noun's operations under one name. `otherwise`: what a call without `action` means."""

    name: str
    summary: str
    otherwise: Sequence[tuple[frozenset[str], str]] = ()
    actions: dict[str, Action] = field(default_factory=dict)

    @property
    def is_single(self) -> bool:
        return list(self.actions) == [""]

    def pick(self, name: str | None, arguments: Iterable[str]) -> Action:
        """The action of this name; without one, the action the arguments are for, never one that removes."""
        if self.is_single and name in (None, "", self.name):
            return self.actions[""]
        if name:
            return self.actions.get(name) or self._refuse_unknown(name)
        given = set(arguments)
        meant = next((self.actions[action] for needed, action in self.otherwise if needed <= given), None)
        if meant and given <= {*meant.arguments.names, *COMMON_ARGUMENTS}:
            return meant
        fitting = [a.name for a in self.actions.values() if given <= {*a.arguments.names, *COMMON_ARGUMENTS}]
        raise InvalidInput(
            f"{self.name} needs an action.",
            missing=["action"],
            allowed=fitting or list(self.actions),
            hint=self._hint,
        )

    def _refuse_unknown(self, name: str) -> Action:
        known = {other: a.name for a in self.actions.values() for other in (a.name, *a.also_known_as)}
        meant = nearest(name, list(known))
        raise InvalidInput(
            f"{self.name} has no action {shown(name)}.",
            did_you_mean=known[meant] or None if meant else None,
            allowed=[action or self.name for action in self.actions],
            hint=self._hint,
        )

    @property
    def _hint(self) -> str:
        return f'{self.name} with action "help" lists the actions and their arguments.'


COMMON_ARGUMENTS = ("action", "agent", "format", "max_tokens")

_tools: dict[str, Tool] = {}


def tool(name: str, summary: str, otherwise: Sequence[tuple[set[str], str]] = ()) -> None:
    """Declare a tool: its summary is what a model sees first."""
    _tools[name] = Tool(name, summary, [(frozenset(needed), action) for needed, action in otherwise])


def action(
    tool_name: str,
    name: str = "",
    *,
    writes: bool = False,
    scope: str = "",
    destroys: bool = False,
    idempotent: bool = False,
    dry_scope: str = "",
    takes_all_of: str = "",
    example: Mapping[str, Any] | None = None,
    also_known_as: Sequence[str] = (),
) -> Callable[[FunctionT], FunctionT]:
    """Register a typed function `(caller, ...)` as an operation of a declared tool.

    `takes_all_of`: another action of the tool whose arguments this one takes beside its own.
    """

    def register(function: FunctionT) -> FunctionT:
        _tools[tool_name].actions[name] = Action(
            tool=tool_name,
            name=name,
            run=function,
            scope=scope or (ADMIN if destroys else WRITE if writes else READ),
            writes=writes or destroys,
            destroys=destroys,
            idempotent=idempotent or not (writes or destroys),
            dry_scope=dry_scope,
            example=example or {},
            also_known_as=tuple(also_known_as),
            answers=_answers_of(function.__annotations__.get("return")),
            arguments=Arguments(function),
            doc=cleandoc(function.__doc__ or ""),
            takes_all_of=takes_all_of,
        )
        return function

    return register


def kinds_of(annotation: Any) -> tuple[Any, ...]:
    """The types that an annotation allows."""
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def _answers_of(annotation: Any) -> tuple[type, ...]:
    """Listing, Reading or both, where the annotation says so: what fits itself into a budget."""
    kinds = [get_origin(kind) or kind for kind in kinds_of(annotation)]
    return tuple(kind for kind in kinds if kind in (Listing, Reading))


def all_tools() -> Mapping[str, Tool]:
    return _tools


def find_tool(name: str, among: Sequence[str] | None = None) -> Tool:
    """The tool of this name, of those `among` names or of all; raises InvalidInput naming the nearest."""
    known = list(_tools if among is None else among)
    if name in known:
        return _tools[name]
    other = {a: tool for tool in known for act in _tools[tool].actions.values() for a in act.also_known_as}
    meant = other.get(name) or nearest(name, known)
    raise InvalidInput(f"There is no tool {shown(name)}.", did_you_mean=meant, allowed=known)
