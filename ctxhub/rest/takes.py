"""What an endpoint takes: the arguments of a tool's action, as a JSON body or as query parameters."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from math import isfinite
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from django.http import QueryDict
from pydantic import ValidationError
from typing_extensions import TypedDict

from ctxhub.core.kit.errors import CtxhubError, InvalidInput, shown
from ctxhub.core.kit.listing import Fitting
from ctxhub.core.kit.ordering import words_of
from ctxhub.core.kit.unset import UNSET
from ctxhub.rest.answers import joined
from ctxhub.rest.argument_schemas import body_field, parameter
from ctxhub.rest.ids import parse_id
from ctxhub.rest.problems import refuse_unknown
from ctxhub.toolbox.actions import Action, all_tools
from ctxhub.toolbox.argument import Argument
from ctxhub.toolbox.argument_types import About, Cursor, FromText, Limit, Says, Words
from ctxhub.toolbox.arguments import Arguments, Problems
from ctxhub.toolbox.batch_writes import Items, refuse_too_many
from ctxhub.toolbox.common_arguments import BUDGET, EXACT, Budget
from ctxhub.toolbox.other_names import said_twice

AS_TAKEN: Mapping[Any, Callable[[Any], Any]] = {"array": lambda value: [value], "string": str}
FLAGS = {"true": True, "1": True, "false": False, "0": False}


def takes(tool: str, action: str = "", **changes: Any) -> "Takes":
    """The arguments of a tool's action. `changes`: see `Takes`."""
    return Takes((tool, action), **changes)


class Takes:
    """Arguments, read strictly: a body has JSON's types, and null clears where it has a meaning.

    `source`: a tool and its action, or a TypedDict for what only REST takes. `at`: the argument that the
    address holds; `without`: those that are not taken either; `optional`: those that may be left out here;
    `also`: a TypedDict of more. `items`: what an entry of the argument `items` takes. `example`: a body to
    start from; left out: the action's.
    """

    def __init__(
        self,
        source: tuple[str, str] | type,
        *,
        name: str = "",
        at: str = "",
        without: Collection[str] = (),
        optional: Collection[str] = (),
        also: type | None = None,
        items: "Takes | None" = None,
        example: Mapping[str, Any] | None = None,
    ) -> None:
        self._source, self._name, self._at = source, name, at
        self._without, self._optional, self._also = {*without, at}, optional, also
        self.items, self._example = items, example
        self._with_common: dict[tuple[str, ...], Arguments] = {}

    @cached_property
    def operation(self) -> str:
        """The name of the operation that takes them: decision.set; "" for what only REST takes."""
        return self._action.call if self._action else ""

    @cached_property
    def arguments(self) -> Arguments:
        own = self._action.arguments if self._action else Arguments.of_dict(self._source)  # type: ignore[arg-type]
        budget = [BUDGET] if self._action and self._action.takes_budget else []
        more = Arguments.of_dict(self._also).all if self._also else []
        kept = [argument for argument in own.all if argument.name not in self._without]
        return Arguments([*map(self._relaxed, kept), *more, *budget])

    @cached_property
    def example(self) -> dict[str, Any]:
        if self._example is not None or self._action is None:
            return dict(self._example or {})
        return {name: value for name, value in self._action.example.items() if name in self.arguments.names}

    @cached_property
    def component(self) -> str:
        """The name of its schema: ConstraintAdd."""
        if self._name or isinstance(self._source, type):
            return self._name or self._source.__name__  # type: ignore[union-attr]
        return "".join(word.capitalize() for word in re.split("_| ", " ".join(self._source)))

    def ordered_by(self, fields: Iterable[str], usual: str) -> "Takes":
        """The same with `ordering`, by these fields; `usual`: how the list is ordered without it."""
        words = Annotated[
            Words,
            Says("|".join(words_of(fields))),
            About(f"By these fields, those after - descending; left out: {usual}."),
        ]
        Ordering: Any = TypedDict("Ordering", {"ordering": words}, total=False)  # noqa: N806  # A type.
        with_ordering = copy(self)
        with_ordering._with_common = {}
        with_ordering._also = joined("Also", self._also, Ordering) if self._also else Ordering
        return with_ordering

    # -- Running the action ------------------------------------------------------------------------

    def run(self, **arguments: Any) -> Any:
        """The answer of the action, as MCP runs it: `caller`, and the arguments by their names."""
        assert self._action
        return self._action.run(**arguments)

    @cached_property
    def answer(self) -> Any:
        """The type of that answer."""
        assert self._action
        hint = get_type_hints(self._action.run, include_extras=True)["return"]
        return get_args(hint)[0] if get_origin(hint) is Fitting else hint

    def in_address(self, where: Mapping[str, Any]) -> dict[str, Any]:
        """What the address holds, under the name and in the type of the action's argument."""
        if not self._at:
            return {}
        [value] = where.values()
        return {self._at: self._as_taken(value)}

    @cached_property
    def _as_taken(self) -> Callable[[Any], Any]:
        assert self._action
        [kind] = [a.schema.get("type") for a in self._action.arguments.all if a.name == self._at]
        return AS_TAKEN.get(kind, lambda value: value)

    # -- Reading -----------------------------------------------------------------------------------

    def read_body(self, data: Any, *, common: Sequence[Argument] = ()) -> dict[str, Any]:
        """The checked fields, and what bodies have in common. Raises InvalidInput."""
        if not isinstance(data, Mapping):
            raise InvalidInput(f"The body must be an object, not {shown(data)}.")
        arguments = self._with(common)
        checked = _check(arguments, data, "field")
        if self.items and "items" in checked:
            checked["items"] = self.items.check_each(checked["items"])
        return checked

    def check_each(self, items: Sequence[Any]) -> Items:
        """The items of a batch for the service; an invalid one becomes its error, and the others can run."""
        refuse_too_many(items)
        return [self._check_item(item) for item in items]

    def _check_item(self, item: Any) -> Mapping[str, Any] | CtxhubError:
        if not isinstance(item, Mapping):
            return InvalidInput(f"An item is an object, not {shown(item)}.")
        try:
            return _check(self.arguments, item, "field")
        except InvalidInput as error:
            return error

    def read_query(self, query: QueryDict, *, also: Sequence[str] = ()) -> dict[str, Any]:
        """The parsed parameters. Raises InvalidInput for unknown names and values of the wrong type."""
        arguments = self._with_exact
        texts = self._by_declared_names(query, also)
        refuse_unknown(texts, [*arguments.names, *also], "parameter")
        given = {a.name: _parsed(a, texts[a.name]) for a in arguments.all if a.name in texts}
        return _check(arguments, given, "parameter")

    def _by_declared_names(self, query: QueryDict, also: Sequence[str]) -> dict[str, list[str]]:
        others = {name: a.name for name, a in self.arguments.others.items() if name not in also}
        texts: dict[str, list[str]] = {}
        for said in query:
            name = others.get(said, said)
            if texts.setdefault(name, query.getlist(said)) != query.getlist(said):
                raise said_twice(next(other for other in query if others.get(other) == name), name)
        return texts

    # -- OpenAPI -----------------------------------------------------------------------------------

    def parameters(self) -> list[dict[str, Any]]:
        return [parameter(argument) for argument in self._with_exact.all]

    def schema(
        self, items: Mapping[str, Any] | None, *, common: Sequence[Argument] = (), is_item: bool = False
    ) -> dict[str, Any]:
        """The schema of the body, or of an item of one. `items`: that of an entry of `items`."""
        arguments = (self.arguments if is_item else self._with(common)).all
        fields = {argument.name: body_field(argument) for argument in arguments}
        if items is not None:
            fields["items"] = {**fields["items"], "items": items}
        required = [argument.name for argument in arguments if argument.required]
        return {"type": "object", "properties": fields, **({"required": required} if required else {})}

    # ----------------------------------------------------------------------------------------------

    @cached_property
    def _action(self) -> Action | None:
        if isinstance(self._source, type):
            return None
        tool, action = self._source
        return all_tools()[tool].actions[action]

    def _with(self, common: Sequence[Argument]) -> Arguments:
        """The arguments, and those that bodies have in common."""
        names = tuple(argument.name for argument in common)
        if names not in self._with_common:
            self._with_common[names] = Arguments([*self._with_exact.all, *common])
        return self._with_common[names]

    @cached_property
    def _with_exact(self) -> Arguments:
        """What a call takes, not an item of a batch."""
        taken = self.arguments.all
        return Arguments([*taken, EXACT]) if any(a.names_files for a in taken) else self.arguments

    def _relaxed(self, argument: Argument) -> Argument:
        if argument.name not in self._optional:
            return argument
        return Argument(argument.name, argument.annotation, False, UNSET, argument.nullable)


class PageArguments(TypedDict, total=False):
    """What a list takes that only REST has."""

    limit: Limit
    cursor: Cursor
    max_tokens: Budget


NOTHING = Takes(TypedDict("Nothing", {}))  # type: ignore[operator]
ONLY_A_PAGE = Takes(PageArguments)
# What a long text of one object is read with.
READ_IN_PARTS = takes("get", without=["refs", "detail"])


def _check(arguments: Arguments, given: Mapping[str, Any], what: str) -> dict[str, Any]:
    named = arguments.by_declared_names(dict(given))
    refuse_unknown(named, arguments.names, what)
    try:
        checked = arguments.check_json(named)
    except ValidationError as error:
        problems = Problems.of(error)
    else:
        _refuse_nul(checked)
        return checked
    if missing := list(problems.missing):
        raise InvalidInput(f"{', '.join(missing)} must be given.", missing=missing)
    raise InvalidInput(problems.sentence())


def _refuse_nul(checked: Mapping[str, Any]) -> None:
    """PostgreSQL stores none, and compares nothing with one."""
    for name, value in checked.items():
        texts = value if isinstance(value, list) else [value]
        if any(isinstance(text, str) and "\0" in text for text in texts):
            raise InvalidInput(f"{name} holds a NUL character.")


def _parsed(argument: Argument, texts: list[str]) -> Any:
    """The value of a parameter: lists repeat, or are texts. What is of no such type stays a text."""
    kind = argument.schema.get("type")
    if kind == "array" and argument.names_files:
        return texts  # A comma may be part of a name that is known.
    if kind == "array":
        return [entry for text in texts if text.strip(" ,;") for entry in _listed(argument, text)]
    if len(texts) > 1:
        raise InvalidInput(f"{argument.name} is given more than once.")
    [text] = texts
    if argument.id_of:
        return _id(argument, text)
    if kind in ("boolean", "integer", "number") and not text.strip():
        raise InvalidInput(f"{argument.name}: nothing follows the equals sign.")
    if kind == "boolean":
        return FLAGS.get(text.lower(), text)
    return _number(text, kind) if kind in ("integer", "number") else text


def _listed(argument: Argument, text: str) -> Sequence[Any]:
    """The entries of a list in one text of a query. Raises InvalidInput."""
    read = next((mark for mark in argument.marks if isinstance(mark, FromText)), None)
    if read is None:
        return [word.strip() for word in text.split(",") if word.strip()]
    try:
        listed: Sequence[Any] = read.convert(text)
    except ValueError as error:
        raise InvalidInput(f"{argument.name} {error}.") from None
    return listed


def _id(argument: Argument, text: str) -> int:
    try:
        return parse_id(text, argument.id_of)
    except InvalidInput as error:
        raise InvalidInput(f"{argument.name}: {error.message}") from error


def _number(text: str, kind: str) -> Any:
    try:
        number = int(text) if kind == "integer" else float(text)
    except ValueError:
        return text
    return number if isfinite(number) else text
