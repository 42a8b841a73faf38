"""`@action`: the registry of all operations that agents can call. Does not depend on MCP."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from inspect import cleandoc
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from typing_extensions import is_typeddict

from ctxhub.core.hub.partial_reads import Reading
from ctxhub.core.kit.caller import ADMIN, READ, WRITE, Caller
from ctxhub.core.kit.errors import InvalidInput, shown, shown_all
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.likeness import LONGEST_WORD, few_of
from ctxhub.core.kit.listing import HoldsLists, Listing
from ctxhub.core.kit.tool_names import call_of, flat_name, is_flat, is_offered, operation
from ctxhub.toolbox.argument_repairs import MOST_NAMES, Taken
from ctxhub.toolbox.argument_types import present
from ctxhub.toolbox.arguments import Argument, Arguments
from ctxhub.toolbox.common_arguments import AGENT, BUDGET, COMMON, EXACT, FORMAT, SECRET, SESSION
from ctxhub.toolbox.leading import called
from ctxhub.toolbox.meanings import DONE_OTHERWISE
from ctxhub.toolbox.other_names import by_declared_names
from ctxhub.toolbox.spelling import snake, squeezed
from ctxhub.toolbox.suggestions import (
    Suggestion,
    fitting_action,
    for_files,
    said_action,
    suggest_action,
    suggest_default,
    suggest_operation,
    suggestion,
)

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


@frozen(slots=False)
class Action:
    """An operation of a tool. `doc` is its docstring: the first paragraph for lists, all of it for `help`.

    `quiet`: seldom used, so that the tool's description only names it. `counts_mail`: its answer has `mail`
    itself, within its budget. `or_scope`: another scope that allows some of its calls.
    """

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
    quiet: bool = False
    counts_mail: bool = False
    or_scope: str = ""

    def require_scope(self, caller: Caller, arguments: Mapping[str, Any]) -> None:
        """Raise NotAllowed unless the caller may make a call with these arguments."""
        needed = self.scope_of(arguments)
        if needed != self.scope or not caller.may(self.or_scope):
            caller.require(needed, self.shown_name)

    def scope_of(self, arguments: Mapping[str, Any]) -> str:
        """Return the scope that a call needs: a dry run, also by default, may need a lower one."""
        dry_run = arguments.get("dry_run")
        is_dry = self._is_dry_by_default if dry_run is None else str(dry_run).lower() == "true"
        return self.dry_scope if self.dry_scope and is_dry else self.scope

    @cached_property
    def _is_dry_by_default(self) -> bool:
        return any(a.name == "dry_run" and a.default is True for a in self.arguments.all)

    def is_usable_by(self, caller: Caller) -> bool:
        """Whether the caller may call it as it is, without saying `dry_run`."""
        return any(map(caller.may, (self.scope, self.or_scope, self.scope_of({}))))

    def writes_for(self, caller: Caller) -> bool:
        """Whether a call of the caller may write. An action that reads, too, writes only with WRITE."""
        scope = WRITE if self.scope == READ else self.scope
        return self.writes and (caller.may(scope) or caller.may(self.or_scope))

    @cached_property
    def call(self) -> str:
        """`decision.set`, or the tool's name if it has a single operation."""
        return f"{self.tool}.{self.name}" if self.name else self.tool

    @cached_property
    def flat_name(self) -> str:
        return flat_name(self.tool, self.name)

    @property
    def shown_name(self) -> str:
        """The name for messages: `call`, or the flat name on a flat surface."""
        return self.flat_name if is_flat() else self.call

    @property
    def call_name(self) -> str:
        """The name for the argument `action`, or the flat name on a flat surface."""
        return self.flat_name if is_flat() else self.last_name

    @property
    def last_name(self) -> str:
        return self.name or self.tool

    @property
    def names(self) -> tuple[str, ...]:
        """Its name and its aliases."""
        return (self.last_name, *self.also_known_as)

    @property
    def reads(self) -> bool:
        """Whether it writes nothing, or only where an argument asks for that."""
        return not self.writes or self.scope == READ

    @cached_property
    def spellings(self) -> frozenset[str]:
        """Its names, its aliases and its flat name, without case and separators."""
        return frozenset(map(squeezed, (self.flat_name, *self.names)))

    @cached_property
    def known(self) -> list[str]:
        """The names of all arguments that a call may have."""
        return list(dict.fromkeys([*self.arguments.names, *(argument.name for argument in self.common)]))

    def by_declared_names(self, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call under their declared names, the budget among them. Raises InvalidInput."""
        given = self.arguments.by_declared_names(given)
        return (
            by_declared_names(given, OF_BUDGET) if self.takes_budget and given.keys() & OF_BUDGET else given
        )

    def takes(self, names: Collection[str]) -> bool:
        """Whether it takes all arguments of these names."""
        return {*names} <= {*self.arguments.names, *COMMON_ARGUMENTS}

    @property
    def takes_session(self) -> bool:
        """Whether `session` is an argument of its own; any other call may have it to say whose work it is."""
        return SESSION.name in self.arguments.names

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Validate and convert the arguments. Raises InvalidInput with suggestions.

        If the unknown arguments fit another operation, `call` in the error names it.
        """
        try:
            return self.arguments.check(
                given, self.shown_name, also=self.also_allowed, writes=self.writes, noun=self.tool
            )
        except InvalidInput as error:
            arguments = present(given)
            unknown = [name for name in arguments if name not in self.known]
            if unknown:
                self._suggest_other(error, arguments, unknown)
            raise

    def _suggest_other(self, error: InvalidInput, given: Mapping[str, Any], unknown: Sequence[str]) -> None:
        own = suggestion(self, given)
        other = None
        if own.repair.unknown and len(unknown) <= MOST_NAMES:
            tools = tools_offered()
            other = for_files(self, given, tools) or fitting_action(self, tools.values(), given)
        if other or own.repair.instead:
            chosen = other or own
            error.hint = " ".join(chosen.repair.advice)
            error.details |= {**chosen.repair.details, "allowed": [], "call": _call_of(chosen)}
        elif "refs" in self.taken.required and "refs" not in {*given, *own.repair.renamed.values()}:
            error.hint = error.hint or f"{self.shown_name} takes refs: a kind, a colon and an id or key."

    @cached_property
    def taken(self) -> Taken:
        """What a call may have, for repairs."""
        also = [argument.name for argument in self.common]
        return self.arguments.taken(also, writes=self.writes, noun=self.tool)

    @cached_property
    def common(self) -> tuple[Argument, ...]:
        """The arguments that a call takes besides the action's own."""
        taken = [
            (AGENT, True),
            (FORMAT, self.holds_lists),
            (BUDGET, self.takes_budget),
            (EXACT, self.names_files),
            (SESSION, not self.takes_session),
            (SECRET, self.writes),
        ]
        return tuple(argument for argument, is_taken in taken if is_taken)

    @cached_property
    def also_allowed(self) -> tuple[str, ...]:
        """Those of `common` that an error offers: the others repair no call with a wrong name."""
        return tuple(argument.name for argument in self.common if argument not in (SESSION, EXACT, SECRET))

    @cached_property
    def names_files(self) -> bool:
        """Whether it takes paths, which `exact` lets be read as they are written."""
        return any(argument.names_files for argument in self.arguments.all)

    @cached_property
    def holds_lists(self) -> bool:
        """Whether its answer is a list or may have lists inside, which `format` shapes."""
        return _holds_lists(get_type_hints(self.run, include_extras=True).get("return"))

    @cached_property
    def takes_budget(self) -> bool:
        """Whether it answers a list or a paged text, which `max_tokens` limits."""
        return bool(self.answers)

    @property
    def summary(self) -> str:
        return self.doc.partition("\n\n")[0].replace("\n", " ")

    def signature(self, listed: set[str]) -> str:
        """Return its line in the tool description; refers to another action for the arguments they share.

        What asks for a page or a part of a text is left to the schema. `listed`: shapes and words that the
        description has already; this adds its own.
        """
        shared = _tools[self.tool].actions[self.takes_all_of].arguments.names if self.takes_all_of else ()
        of_action = [a for a in self.arguments.declared.all if a.name not in shared]
        own = [a for a in of_action if a.says or a.name not in OF_PARTS]
        gists = [argument.gist(listed) for argument in own]
        listed |= {told for argument in own for told in argument.listed}
        rest = f"+ what {self.takes_all_of} takes" if self.takes_all_of else ""
        return " ".join([self.name, *gists, rest]).strip()


@frozen(slots=False)
class Tool:
    """The operations of a noun under one name. `otherwise`: default actions by the arguments of a call.

    `always_loaded`: needed in every session, so that clients that load tools on demand show it at once.
    """

    name: str
    summary: str
    otherwise: Sequence[tuple[frozenset[str], str]] = ()
    always_loaded: bool = False
    actions: dict[str, Action] = field(default_factory=dict)

    @property
    def is_single(self) -> bool:
        return list(self.actions) == [""]

    def named(self, name: str) -> Action | None:
        """Find an action by name, ignoring case and separators: `quick-set`, `quickSet`, `QUICK_SET`."""
        if action := self.actions.get(name):
            return action
        plain = squeezed(name)
        return next((a for a in self.actions.values() if plain and squeezed(a.name) == plain), None)

    def pick(self, name: str | None, arguments: Collection[str]) -> Action:
        """Return the action of this name; without one the default for the arguments, never destructive."""
        name = name.strip() if name else ""
        if self.is_single and (not name or squeezed(name) == self.name):
            return self.actions[""]
        if name:
            return self.named(name) or self._refuse_unknown(name, arguments)
        given = set(arguments)
        default = next((self.actions[action] for needed, action in self.otherwise if needed <= given), None)
        if default and default.takes(given):
            return default
        if by_other_names := self._default_by_other_names(given):
            return by_other_names
        raise self._missing_action(arguments)

    def _default_by_other_names(self, given: set[str]) -> Action | None:
        for needed, name in self.otherwise:
            default = self.actions[name]
            others = default.arguments.others
            declared = {others[said].name if said in others else said for said in given}
            if needed and needed <= declared and default.takes(declared):
                return default
        return None

    def _missing_action(self, given: Collection[str]) -> InvalidInput:
        fitting = [a for a in self.actions.values() if set(given) <= {*a.arguments.names, *COMMON_ARGUMENTS}]
        missing = [] if is_flat() else ["action"]
        details: dict[str, Any] = {"missing": missing}
        advice: Sequence[str] = ()
        if meant := self._meant_action(given) or suggest_default(self, given):
            advice = meant.repair.advice
            details |= {**meant.repair.details, "missing": [*missing, *meant.repair.missing]}
            details["call"] = _call_of(meant)
        return InvalidInput(
            f"There is no tool {shown(self.name)}." if is_flat() else f"{self.name} needs an action.",
            **details,
            allowed=few_of("", [action.call_name for action in fitting or self.actions.values()]),
            hint=" ".join([*advice, self._hint]),
        )

    def _meant_action(self, given: Collection[str]) -> Suggestion | None:
        """What a call means that has its action under another name, or within an object."""
        strange = [name for name in given if all(name not in a.known for a in self.actions.values())]
        said = said_action(given, strange)
        if said is None:
            return None
        name, value = said
        rest = {other: given[other] for other in given if other != name}  # type: ignore[index]
        action = self.named(value)
        found = suggestion(action, rest) if action else suggest_action(self, value, rest, tools_offered())
        if found is None or not name:
            return found
        return Suggestion(found.action, replace(found.repair, left_out=[name, *found.repair.left_out]))

    def _refuse_unknown(self, name: str, given: Collection[str]) -> Action:
        found = suggest_action(self, name, given, tools_offered())
        told = _told_of(found) if found else {}
        raise InvalidInput(
            f"There is no tool {shown(flat_name(self.name, name))}."
            if is_flat()
            else f"{self.name} has no action {shown(name)}.",
            **(_details_of(found, self.name) if found else {}),
            **(told or self._offer(name)),
        )

    def _offer(self, name: str) -> dict[str, Any]:
        """The actions, or the few that are nearest, for an unknown one of which nothing is suggested."""
        names = [action.call_name for action in self.actions.values()]
        return {"allowed": few_of(name, names), "hint": f"{self._elsewhere(name)}{self._hint}"}

    def _elsewhere(self, name: str) -> str:
        """How it is done, or where an action of this name is: not suggested, as it writes something else."""
        if told := DONE_OTHERWISE.get((self.name, snake(name))):
            return f"{_OPERATION.sub(lambda found: operation(found[1]), told)} "
        others = [a for a in called(name, tools_offered().values()) if squeezed(a.name) == squeezed(name)]
        if not others or len(others) > 2:
            return ""
        if is_flat():
            return f"There is {' and '.join(action.flat_name for action in others)}. "
        return f"{name} is an action of {' and '.join(action.tool for action in others)}. "

    @property
    def _hint(self) -> str:
        if is_flat():
            return "Each of these is a tool of its own."
        return f'{self.name} with action "help" lists the actions and their arguments.'


_OPERATION = re.compile(r"\{([a-z_ ]+)\}")
OF_PARTS = ("limit", "cursor", "lines", "tail")
OF_BUDGET = dict.fromkeys(BUDGET.also_called, BUDGET)
COMMON_ARGUMENTS = ("action", *(argument.name for argument in COMMON))

_tools: dict[str, Tool] = {}


def tool(
    name: str,
    summary: str,
    otherwise: Sequence[tuple[set[str], str]] = (),
    *,
    always_loaded: bool = False,
) -> None:
    """Declare a tool: its summary is what a model sees first."""
    defaults = [(frozenset(needed), action) for needed, action in otherwise]
    _tools[name] = Tool(name, summary, defaults, always_loaded)


def action(
    tool_name: str,
    name: str = "",
    *,
    writes: bool = False,
    scope: str = "",
    destroys: bool = False,
    idempotent: bool = False,
    dry_scope: str = "",
    or_scope: str = "",
    takes_all_of: str = "",
    example: Mapping[str, Any] | None = None,
    also_known_as: Sequence[str] = (),
    quiet: bool = False,
    counts_mail: bool = False,
) -> Callable[[FunctionT], FunctionT]:
    """Register a typed function `(caller, ...)` as an operation of a declared tool.

    `takes_all_of`: another action of the tool whose arguments this one takes beside its own. `dry_scope`: the
    scope of a dry run. `or_scope`: another one that allows some of its calls. `quiet`: the tool's description
    names it without its arguments. `counts_mail`: the answer has `mail` itself.
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
            or_scope=or_scope,
            example=example or {},
            also_known_as=tuple(also_known_as),
            answers=_answers_of(function.__annotations__.get("return")),
            arguments=Arguments.of_function(function),
            doc=cleandoc(function.__doc__ or ""),
            takes_all_of=takes_all_of,
            quiet=quiet,
            counts_mail=counts_mail,
        )
        return function

    return register


def kinds_of(annotation: Any) -> tuple[Any, ...]:
    """Return the member types of a union, or the type itself."""
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def _answers_of(annotation: Any) -> tuple[type, ...]:
    """Return Listing, Reading or both from a return annotation: the answers that a token budget limits."""
    kinds = [get_origin(kind) or kind for kind in kinds_of(annotation)]
    return tuple(kind for kind in kinds if kind in (Listing, Reading))


def _holds_lists(hint: Any) -> bool:
    if hint is Listing or isinstance(hint, HoldsLists):
        return True
    fields = get_type_hints(hint, include_extras=True).values() if is_typeddict(hint) else get_args(hint)
    return any(_holds_lists(field) for field in fields)


def all_tools() -> Mapping[str, Tool]:
    return _tools


def find_tool(name: str, among: Sequence[str] | None = None, given: Mapping[str, Any] | None = None) -> Tool:
    """Return the tool of this name, among some names or all. Raises InvalidInput with a suggestion.

    `given`: the arguments of the call, to choose between suggestions.
    """
    if name in (_tools if among is None else among):
        return _tools[name]
    known = list(tools_offered() if among is None else among)
    arguments = present(given or {})
    tool_, found = suggest_operation(name, {tool: _tools[tool] for tool in known}, arguments) or (None, None)
    message = f"There is no tool {shown(name)}."
    if squeezed(name) == "help" and not is_flat():
        raise InvalidInput(message, hint='Each tool has an action "help".', call=_help_of(arguments, known))
    if found:
        raise InvalidInput(message, **_details_of(found), **_told_of(found))
    if tool_ and not is_flat():
        raise InvalidInput(message, did_you_mean=tool_.name, hint=tool_._hint)
    shown_names = _shown_tools(known)
    offered = few_of(name, shown_names)
    more = f"tools/list has all {len(shown_names)}; these are the nearest."
    raise InvalidInput(message, allowed=offered, hint=more if len(offered) < len(shown_names) else "")


def _help_of(given: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """The call that explains the tool, or the operation, that a call of `help` names."""
    said = [value for value in given.values() if isinstance(value, str) and len(value) <= LONGEST_WORD]
    name = next((value for value in said if value not in known), "")
    tool_name = next((value for value in said if value in known), known[0])
    return {"tool": tool_name, "action": "help", **({"name": name} if name else {})}


def tools_offered() -> dict[str, Tool]:
    return {name: tool for name, tool in _tools.items() if is_offered(name)}


def _details_of(found: Suggestion, tool: str = "") -> dict[str, Any]:
    """The details of an error about a name. `tool`: the one that was called, if it exists.

    An action of that tool is only named, unless the arguments are wrong, too.
    """
    action, repaired = found.action, found.repair
    details = {name: value for name, value in repaired.details.items() if value}
    if not repaired.given:
        details.pop("missing", None)
    if action.tool == tool and not details and not is_flat():
        return {"did_you_mean": action.call_name}
    call = _call_of(found)
    word = action.call_name if action.tool == tool else call["tool"]
    return {"did_you_mean": word, **details, "call": call}


def _told_of(found: Suggestion) -> dict[str, Any]:
    """What an error tells beside a suggestion: a hint, and what is taken if a name stays unknown."""
    told, unknown = list(found.repair.advice), found.repair.unknown
    if not unknown:
        return {"hint": " ".join(told)}
    names = found.action.arguments.names
    told.append(f"{found.action.shown_name} has no argument {shown_all(unknown)}.")
    return {"hint": " ".join(told), "allowed": few_of(unknown[0], names)}


def _call_of(found: Suggestion) -> dict[str, Any]:
    return {**call_of(found.action.tool, found.action.name), **found.repair.instead}


def _shown_tools(names: Sequence[str]) -> list[str]:
    if not is_flat():
        return list(names)
    return [action.flat_name for name in names for action in _tools[name].actions.values()]
