"""Arguments of actions: read from the signature, validated, with errors that a model can act on."""

import functools
import inspect
import json
import operator
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    NotRequired,
    Self,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from typing_extensions import TypedDict

from ctxhub.core.kit.errors import InvalidInput, shown_all, unknown_word
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.likeness import SHOWN_NAMES, few_of
from ctxhub.core.kit.unset import UNSET, Unset
from ctxhub.toolbox.argument import Argument, marks_of
from ctxhub.toolbox.argument_repairs import Taken, repair
from ctxhub.toolbox.argument_types import (
    Converts,
    Default,
    OverMcp,
    OverRest,
    present,
)
from ctxhub.toolbox.other_names import OF_CALLS, by_declared_names, other_names
from ctxhub.toolbox.plain_values import Reader, reader_of

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError


# No list has as many entries that is accepted, but for texts of a letter.
LONG_LIST = 1_000


@frozen(slots=False)
class Problems:
    """What is wrong with given arguments: unknown names, missing names, and sentences about values."""

    unknown: Sequence[str]
    missing: Sequence[str]
    values: Sequence[str]

    @classmethod
    def of(cls, error: "ValidationError") -> Self:
        problems = error.errors(include_url=False, include_context=False)
        names: dict[str, list[str]] = {"extra_forbidden": [], "missing": []}
        values = []
        for problem in problems:
            if problem["type"] in names:
                names[problem["type"]].append(str(problem["loc"][0]))
            else:
                values.append(f"{_path(problem['loc'])}: {_plain(problem['msg'])}")
        return cls(names["extra_forbidden"], names["missing"], list(dict.fromkeys(values)))

    def sentence(self) -> str:
        """The first problems of values: a list of 1,000 entries may have 1,000."""
        more = len(self.values) - SHOWN_NAMES
        shown = "; ".join(self.values[:SHOWN_NAMES])
        return f"{shown}{f'; and {more:,} more' if more > 0 else ''}."


class Arguments:
    """The arguments that an action takes, and the validation of calls against them."""

    def __init__(self, arguments: Sequence[Argument]) -> None:
        self.all = list(arguments)
        self.names = [argument.name for argument in self.all]

    @classmethod
    def of_function(cls, function: Callable[..., Any]) -> Self:
        """`**rest: Unpack[Shape]` takes the fields of a TypedDict, which several actions may share."""
        hints = get_type_hints(function, include_extras=True)
        parameters = inspect.signature(function).parameters.values()
        return cls([a for p in parameters if p.name != "caller" for a in _arguments(p, hints[p.name])])

    @classmethod
    def of_dict(cls, shape: type) -> Self:
        """The fields of a TypedDict."""
        return cls(_arguments_of_dict(shape))

    @cached_property
    def declared(self) -> "Arguments":
        """Those that the list of tools declares."""
        return Arguments([argument for argument in self.all if argument.is_declared])

    @cached_property
    def others(self) -> Mapping[str, Argument]:
        """The other names that calls may use."""
        return other_names(self.all)

    @cached_property
    def _usual_names(self) -> frozenset[str]:
        return OF_CALLS.union(self.names) - self.others.keys()

    def by_declared_names(self, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call under their declared names. Raises InvalidInput; see `other_names`."""
        if given.keys() <= self._usual_names:
            return given
        return by_declared_names(given, self.others)

    @cached_property
    def _readers(self) -> dict[str, Reader]:
        return {argument.name: reader_of(argument.annotation) for argument in self.all}

    @cached_property
    def _required(self) -> set[str]:
        return {argument.name for argument in self.all if argument.required}

    @cached_property
    def _stand_ins(self) -> dict[str, str]:
        return {argument.stands_for: argument.name for argument in self.all if argument.stands_for}

    def _with_stand_ins(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        missing = {
            name: given[other]
            for name, other in self._stand_ins.items()
            if given.get(name) is None and isinstance(given.get(other), str)
        }
        return {**given, **missing} if missing else given

    @cached_property
    def _over_mcp(self) -> "TypeAdapter[dict[str, Any]]":
        return _adapter({a.name: _field(a, _without(a.annotation, OverRest)) for a in self.all})

    @cached_property
    def _over_rest(self) -> "TypeAdapter[dict[str, Any]]":
        return _adapter({a.name: _field(a, _strict(a)) for a in self.all}, strict=True)

    def check(
        self,
        given: Mapping[str, Any],
        call: str,
        also: Sequence[str] = (),
        *,
        writes: bool = False,
        noun: str = "",
    ) -> dict[str, Any]:
        """Validate and convert arguments, and drop those that are null. Raises InvalidInput.

        `also`: further arguments that the call takes, which the error lists as allowed. `writes`, `noun`:
        what the operation does to objects of which kind, for its suggestions.
        """
        arguments = self._with_stand_ins(present(given))
        if (read := self._read_plain(arguments)) is not None:
            return read
        # Before pydantic, which describes each of 100,000 problems while all other threads wait.
        if unknown := [name for name in arguments if name not in self._readers]:
            raise self._unknown(unknown, call, arguments, also, self.taken(also, writes=writes, noun=noun))
        from pydantic import ValidationError  # It is slow to load, and few calls need it.

        try:
            if beginnings := _beginnings(arguments):
                self._over_mcp.validate_python(beginnings)
            return self._over_mcp.validate_python(arguments)
        except ValidationError as error:
            raise self._refusal(Problems.of(error), call, arguments) from None

    def _read_plain(self, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the checked arguments if they have the declared types, else None."""
        if not self._required <= arguments.keys() <= self._readers.keys():
            return None
        try:
            return {name: read(arguments[name]) for name, read in self._readers.items() if name in arguments}
        except ValueError:
            return None

    def check_json(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Validate the types that JSON has, without conversions; null stays. Raises ValidationError."""
        given = self._with_stand_ins(given)
        if beginnings := _beginnings(given):
            self._over_rest.validate_python(beginnings)
        return self._over_rest.validate_python(given)

    def filters_in(self, checked: Mapping[str, Any]) -> dict[str, Any]:
        """Drop arguments with a fixed set of words: these are no names of project objects."""
        fixed = {argument.name for argument in self.all if argument.has_fixed_words}
        return {name: value for name, value in checked.items() if name not in fixed}

    def taken(self, also: Sequence[str] = (), *, writes: bool, noun: str) -> Taken:
        """What a call may have, for repairs."""
        return Taken([*self.names, *also], {a.name: a for a in self.all}, writes, noun)

    def _unknown(
        self, unknown: Sequence[str], call: str, given: Mapping[str, Any], also: Sequence[str], taken: Taken
    ) -> InvalidInput:
        repaired = repair(given, taken)
        names = [*self.names, *also]
        return InvalidInput(
            f"{call} has no argument {shown_all(unknown)}.",
            hint=" ".join(repaired.advice),
            **repaired.details,
            allowed=few_of(unknown[0], names) if repaired.unknown else [],
        )

    def _refusal(self, problems: Problems, call: str, given: Mapping[str, Any]) -> InvalidInput:
        if missing := list(problems.missing):
            return InvalidInput(
                f"{call} needs {', '.join(missing)}.", missing=missing, hint=f"Arguments: {self}"
            )
        hint = self._forms_of(problems) or f"Arguments: {self}"
        return self._word_for_flag(problems, given) or InvalidInput(
            f"{call}: {problems.sentence()}", hint=hint
        )

    def _forms_of(self, problems: Problems) -> str:
        """An example of each refused argument that has one."""
        refused = {sentence.partition(":")[0] for sentence in problems.values}
        forms = [f"{a.name}: {json.dumps(a.example)}." for a in self.all if a.name in refused and a.example]
        return " ".join(forms)

    def _word_for_flag(self, problems: Problems, given: Mapping[str, Any]) -> InvalidInput | None:
        """The error for `detail: true`, which suggests a word; None for other problems."""
        refused = {sentence.partition(":")[0] for sentence in problems.values}
        flags = (a for a in self.all if a.name in refused and isinstance(given[a.name], bool))
        errors = (unknown_word(a.name, given[a.name], a.choices) for a in flags if a.choices)
        return next((error for error in errors if error.details["did_you_mean"]), None)

    def __str__(self) -> str:
        return " ".join(argument.signature for argument in self.all)


def _beginnings(arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments with the beginnings of very long lists, whose problems are few; None without such."""
    if not any(isinstance(value, list) and len(value) > LONG_LIST for value in arguments.values()):
        return None
    return {n: value[:LONG_LIST] if isinstance(value, list) else value for n, value in arguments.items()}


def _adapter(fields: Mapping[str, Any], *, strict: bool = False) -> "TypeAdapter[dict[str, Any]]":
    from pydantic import ConfigDict, TypeAdapter

    shape = cast(Any, TypedDict)("Shape", fields)  # Its fields are known only here.
    shape.__pydantic_config__ = ConfigDict(extra="forbid", strict=strict)
    return TypeAdapter(shape)


def _field(argument: Argument, annotation: Any) -> Any:
    return annotation if argument.required else NotRequired[annotation]


def _strict(argument: Argument) -> Any:
    annotation = _without(argument.annotation, OverMcp)
    return annotation | None if argument.nullable else annotation


def _without(annotation: Any, conversion: type[Converts]) -> Any:
    """The type without one kind of conversions."""
    if get_origin(annotation) is not Annotated:
        return annotation
    kept = [mark for mark in get_args(annotation)[1:] if not isinstance(mark, conversion)]
    base = get_args(annotation)[0]
    return Annotated[(base, *kept)] if kept else base


def _arguments(parameter: inspect.Parameter, hint: Any) -> list[Argument]:
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        return _arguments_of_dict(get_args(hint)[0])
    return [_argument(parameter.name, hint, parameter.default)]


def _arguments_of_dict(shape: Any) -> list[Argument]:
    empty = inspect.Parameter.empty
    return [
        _argument(name, hint, empty if name in shape.__required_keys__ else UNSET)
        for name, hint in get_type_hints(shape, include_extras=True).items()
    ]


def _argument(name: str, hint: Any, default: Any) -> Argument:
    members = _members(get_args(hint)[0] if get_origin(hint) is NotRequired else hint)
    kept = [member for member in members if member not in (Unset, type(None))]
    annotation = functools.reduce(operator.or_, kept)
    if default is UNSET:
        said = (mark.value for mark in reversed(marks_of(annotation)) if isinstance(mark, Default))
        default = next(said, UNSET)
    return Argument(name, annotation, default is inspect.Parameter.empty, default, type(None) in members)


def _members(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _path(loc: tuple[int | str, ...]) -> str:
    """Format an error location: `tags[2]`. Omits pydantic's names for the branches of a union."""
    path = str(loc[0]) if loc else "arguments"
    for part in loc[1:]:
        path += f"[{part}]" if isinstance(part, int) else ""
    return path


def _plain(message: str) -> str:
    return message.replace("Input should be", "must be")
