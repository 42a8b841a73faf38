"""`@action`: the registry of all operations that agents can call. Does not depend on MCP."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from inspect import cleandoc
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from typing_extensions import is_typeddict

from ctxhub.core.hub.partial_reads import Reading
from ctxhub.core.kit.caller import ADMIN, READ, WRITE, Caller
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.listing import HoldsLists, Listing
from ctxhub.core.kit.tool_names import flat_name, is_flat, is_offered
from ctxhub.toolbox.argument import Argument
from ctxhub.toolbox.argument_repairs import Taken
from ctxhub.toolbox.arguments import Arguments
from ctxhub.toolbox.common_arguments import AGENT, BUDGET, COMMON, EXACT, FORMAT, SECRET, SESSION
from ctxhub.toolbox.other_names import by_declared_names
from ctxhub.toolbox.spelling import squeezed

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


@frozen(slots=False)
class Action:
    """An operation of a tool. `doc` is its docstring: the first paragraph for lists, all of it for `help`.

    `quiet`: seldom used, so that the tool's description only names it. `counts_mail`: its answer has `mail`
    itself, within its budget. `or_scope`: another scope that allows some of its calls. `for_readers`: a
    signed-in person who may read makes some of its calls, too; it checks which.
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
    for_readers: bool = False

    def require_scope(self, caller: Caller, arguments: Mapping[str, Any]) -> None:
        """Raise NotAllowed unless the caller may make a call with these arguments."""
        if self._is_for(caller):
            return
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
        return self._is_for(caller) or any(map(caller.may, (self.scope, self.or_scope, self.scope_of({}))))

    def _is_for(self, caller: Caller) -> bool:
        return self.for_readers and caller.is_reader

    def writes_for(self, caller: Caller) -> bool:
        """Whether a call of the caller may write. An action that reads, too, writes only with WRITE."""
        scope = WRITE if self.scope == READ else self.scope
        return self.writes and (caller.may(scope) or caller.may(self.or_scope) or self._is_for(caller))

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
    for_readers: bool = False,
    takes_all_of: str = "",
    example: Mapping[str, Any] | None = None,
    also_known_as: Sequence[str] = (),
    quiet: bool = False,
    counts_mail: bool = False,
) -> Callable[[FunctionT], FunctionT]:
    """Register a typed function `(caller, ...)` as an operation of a declared tool.

    `takes_all_of`: another action of the tool whose arguments this one takes beside its own. `dry_scope`: the
    scope of a dry run. `or_scope`: another one that allows some of its calls. `for_readers`: people who may
    read alone make some of them, too. `quiet`: the tool's description names it without its arguments.
    `counts_mail`: the answer has `mail` itself.
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
            for_readers=for_readers,
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


def tools_offered() -> dict[str, Tool]:
    return {name: tool for name, tool in _tools.items() if is_offered(name)}
