"""`@action`: the registry of every operation an agent can call. Knows nothing of MCP."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import cleandoc
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

from ctxhub.core.hub.readings import Reading
from ctxhub.core.kit.caller import ADMIN, READ, WRITE
from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.listing import Listing
from ctxhub.core.kit.tool_names import call_of, flat_name, is_flat, is_offered
from ctxhub.core.toolbox.arguments import Arguments
from ctxhub.core.toolbox.suggestions import (
    fitting_action,
    meant_action,
    meant_arguments,
    meant_operation,
    misfit,
    squeezed,
)

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

    @cached_property
    def call(self) -> str:
        """`decision.set`, or the tool's name where it has one operation."""
        return f"{self.tool}.{self.name}" if self.name else self.tool

    @cached_property
    def flat_name(self) -> str:
        return flat_name(self.tool, self.name)

    @property
    def shown_name(self) -> str:
        """What messages call it: `call`, or its own name on a flat surface."""
        return self.flat_name if is_flat() else self.call

    @property
    def told_name(self) -> str:
        """What a call of its tool names it by, or its own name on a flat surface."""
        return self.flat_name if is_flat() else self.last_name

    @property
    def last_name(self) -> str:
        return self.name or self.tool

    @property
    def names(self) -> tuple[str, ...]:
        """Its name, and what others call it."""
        return (self.last_name, *self.also_known_as)

    @cached_property
    def known(self) -> list[str]:
        """All that a call of it may name."""
        return [*self.arguments.names, *self.common]

    def filters_in(self, checked: Mapping[str, Any]) -> dict[str, Any]:
        """Its arguments without those that take words of their own: they name nothing in the project."""
        own = {argument.name for argument in self.arguments.all if argument.says}
        return {name: value for name, value in checked.items() if name not in own}

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the action wants them; raises InvalidInput that says what was meant.

        Where what it does not take fits another operation, `call` names that one.
        """
        try:
            return self.arguments.check(given, self.shown_name, also=self.common)
        except InvalidInput as error:
            said = _said(given)
            unknown = [name for name in said if name not in self.known]
            if unknown and len(error.details.get("did_you_mean", {})) < len(unknown):
                self._name_fitting(error, said)
            raise

    def _name_fitting(self, error: InvalidInput, given: Collection[str]) -> None:
        if other := fitting_action(self, _offered_tools().values(), given):
            unknown = [name for name in given if name not in other.known]
            error.details |= {
                "did_you_mean": meant_arguments(unknown, other.known, given),
                "call": call_of(other.tool, other.name),
                "missing": [],
            }

    @cached_property
    def common(self) -> tuple[str, ...]:
        """What a call takes beside the action's own arguments."""
        shaping = [("format", self.answers_list), ("max_tokens", self.takes_budget)]
        return ("agent", *(name for name, is_taken in shaping if is_taken))

    @cached_property
    def answers_list(self) -> bool:
        return Listing in self.answers

    @cached_property
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

    def named(self, name: str) -> Action | None:
        """The action of this name, in any case: `quick-set`, `quickSet` and `QUICK_SET` are one."""
        if action := self.actions.get(name):
            return action
        plain = squeezed(name)
        return next((a for a in self.actions.values() if plain and squeezed(a.name) == plain), None)

    def pick(self, name: str | None, arguments: Collection[str]) -> Action:
        """The action of this name; without one, the action the arguments are for, never one that removes."""
        name = name.strip() if name else ""
        if self.is_single and (not name or squeezed(name) == self.name):
            return self.actions[""]
        if name:
            return self.named(name) or self._refuse_unknown(name, arguments)
        given = set(arguments)
        meant = next((self.actions[action] for needed, action in self.otherwise if needed <= given), None)
        if meant and given <= {*meant.arguments.names, *COMMON_ARGUMENTS}:
            return meant
        raise self._missing_action(arguments)

    def usual(self, given: Mapping[str, Any]) -> Action | None:
        """What a call of it with these arguments is taken for, if it is."""
        name = given.get("action")
        try:
            return self.pick(name if isinstance(name, str) else None, given.keys() - {"action"})
        except InvalidInput:
            return None

    def _missing_action(self, given: Collection[str]) -> InvalidInput:
        fitting = [a for a in self.actions.values() if set(given) <= {*a.arguments.names, *COMMON_ARGUMENTS}]
        meant = next((a for a in self._first_meant(fitting) if misfit(a, given) == 0), None)
        unknown = [name for name in given if meant and name not in meant.known]
        return InvalidInput(
            f"There is no tool {shown(self.name)}." if is_flat() else f"{self.name} needs an action.",
            missing=[] if is_flat() else ["action"],
            call=call_of(meant.tool, meant.name) if meant else None,
            did_you_mean=meant_arguments(unknown, meant.known, given) if meant else None,
            allowed=[action.told_name for action in fitting or self.actions.values()],
            hint=self._hint,
        )

    def _first_meant(self, fitting: Sequence[Action]) -> list[Action]:
        """The actions in the order in which they are likely meant, none that removes."""
        usual = [self.actions[action] for _, action in self.otherwise]
        likely = dict.fromkeys(a.name for a in (*fitting, *usual, *self.actions.values()))
        return [self.actions[name] for name in likely if not self.actions[name].destroys]

    def _refuse_unknown(self, name: str, given: Collection[str]) -> Action:
        meant = meant_action(self, name, given)
        details: dict[str, Any] = {"did_you_mean": meant.told_name if meant else None}
        if meant is None and (elsewhere := meant_operation(name, _offered_tools(), dict.fromkeys(given))):
            details = _call_details(*elsewhere)
        raise InvalidInput(
            f"There is no tool {shown(flat_name(self.name, name))}."
            if is_flat()
            else f"{self.name} has no action {shown(name)}.",
            **details,
            allowed=[action.told_name for action in self.actions.values()],
            hint=self._hint,
        )

    @property
    def _hint(self) -> str:
        if is_flat():
            return "Each of these is a tool of its own."
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


def find_tool(name: str, among: Sequence[str] | None = None, given: Mapping[str, Any] | None = None) -> Tool:
    """The tool of this name, of those `among` names or of all; raises InvalidInput naming what was meant.

    `given`: the arguments of the call, by which meanings are told apart.
    """
    if name in (_tools if among is None else among):
        return _tools[name]
    known = list(_offered_tools() if among is None else among)
    said = _said(given or {})
    meant = meant_operation(name, {tool: _tools[tool] for tool in known}, said)
    raise InvalidInput(
        f"There is no tool {shown(name)}.",
        **(_call_details(meant[0], meant[1] or meant[0].usual(said)) if meant else {}),
        allowed=_shown_tools(known),
    )


def _offered_tools() -> dict[str, Tool]:
    return {name: tool for name, tool in _tools.items() if is_offered(name)}


def _said(given: Mapping[str, Any]) -> dict[str, Any]:
    """Without null, which strict clients send for all that they leave out."""
    return {name: value for name, value in given.items() if value is not None}


def _call_details(tool: Tool, action: Action | None) -> dict[str, Any]:
    if action is None:
        return {"did_you_mean": tool.name} if not is_flat() else {}
    call = call_of(action.tool, action.name)
    return {"did_you_mean": call["tool"], "call": call}


def _shown_tools(names: Sequence[str]) -> list[str]:
    if not is_flat():
        return list(names)
    return [action.flat_name for name in names for action in _tools[name].actions.values()]
