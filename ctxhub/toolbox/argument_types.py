"""The types of arguments of actions: what a client may send, and what OpenAPI says about it.

An action's signature, or a TypedDict that it unpacks, declares its arguments once, for MCP and for REST. Over
MCP values are converted where clients are known to send them otherwise (JSON in strings, one text for a
list); a REST body has JSON's types.

The annotations tell pydantic what to do through its protocol (`__get_pydantic_core_schema__`). Pydantic is
imported when it asks: neither the list of tools nor most calls need it, and its import is slow.
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_aware, make_aware

from ctxhub.core.kit.clock import find_span
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import MAX_LIMIT, clean_number, read_id, read_ref_id
from ctxhub.core.kit.limits import NOT_BLANK, OPTIONAL_NAME, OPTIONAL_WORD, PATH, WORD
from ctxhub.core.kit.text_lists import read_entries
from ctxhub.toolbox import list_conversions
from ctxhub.toolbox.list_conversions import conversion_error, word

if TYPE_CHECKING:
    from pydantic_core import CoreSchema

# -- Annotations -----------------------------------------------------------------------------------


@frozen
class Says:
    """The allowed words of an argument, or one example of a value, for the signature that a model reads.

    `in_description`: whether the description of the tool has them; help, errors and OpenAPI always do.
    """

    words: str
    in_description: bool = True


@frozen
class Undeclared:
    """Marks an argument that works, but is not declared in the list of tools, where it costs tokens in every
    session. Help, errors and OpenAPI show it. Such an argument is never required.
    """


UNDECLARED = Undeclared()


@frozen
class Default:
    """What leaving an argument out means, for help: a TypedDict's field has no default of its own."""

    value: Any


@frozen
class StandsFor:
    """A required argument that this one is as well, where a call gives this one alone."""

    name: str


@frozen
class AlsoCalled:
    """Other names of an argument, which calls may use: `max_tokens` for the only budget that there is.

    Nothing shows them, and none may be a name that another operation of the tool gives another meaning.
    """

    names: tuple[str, ...]


def also_called(*names: str) -> AlsoCalled:
    return AlsoCalled(names)


@frozen
class NamesFiles:
    """Marks an argument that is a path, a list of paths, or holds some: its action takes `exact`."""


NAMES_FILES = NamesFiles()


@frozen(eq=False)
class About:
    """What OpenAPI says about an argument beyond its type; costs a model no tokens.

    `schema`: keywords of its JSON schema, such as a text's limits; `items`: those of its entries.
    """

    description: str = ""
    schema: Mapping[str, Any] | None = None
    items: Mapping[str, Any] | None = None


@frozen(eq=False)
class RowsOf:
    """What a row is of a Listing that is not a page: a TypedDict. The list may stand inside an answer.

    MCP shows such a list as columns and rows, or `items`; REST shows objects.
    """

    shape: Any

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> "CoreSchema":
        from pydantic_core import core_schema

        return core_schema.any_schema()

    def __get_pydantic_json_schema__(self, schema: "CoreSchema", handler: Any) -> dict[str, Any]:
        return {"type": "object"}


@frozen
class Wrote:
    """Marks the field of an answer with who wrote the thing. REST shows the same beside it as `by`."""


Author = Annotated[str, Wrote()]


def one_of(*words: str) -> About:
    """The words that a text of an answer may be."""
    return About(schema={"enum": list(words)})


@frozen(eq=False)
class Shows:
    """The JSON schema of a type, for a model: with one `type`, as clients that constrain models need it.

    `accepted`: the schema of all that is taken, for OpenAPI; left out: the same.
    """

    schema: Mapping[str, Any]
    accepted: Mapping[str, Any] | None = None

    def __get_pydantic_json_schema__(self, schema: "CoreSchema", handler: Any) -> dict[str, Any]:
        return dict(self.schema)


@frozen(slots=False)
class Converts:
    """Converts a value before its validation."""

    convert: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> "CoreSchema":
        from pydantic_core import core_schema

        return core_schema.no_info_before_validator_function(self.convert, handler(source))


class OverMcp(Converts):
    """Converts a value before its validation, over MCP only."""


class OverRest(Converts):
    """Converts a value before its validation, over REST only."""


@frozen(slots=False)
class FromText(Converts):
    """Reads a list that was sent as a text, over MCP and over REST, in a body and in a query.

    `is_shown`: whether OpenAPI offers the text, as one that is no list in JSON is one, too.
    """

    is_shown: bool = True


@frozen
class Checks:
    """Converts a value, in place of pydantic's validation."""

    convert: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> "CoreSchema":
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(self.convert)


class IdOf(Converts):
    """Makes a Number accept an id as 17, "17", or the ref that lists and events have (`memory:17`)."""

    kind: str

    def __init__(self, kind: str) -> None:
        super().__init__(partial(_read_ref, kind=kind))
        object.__setattr__(self, "kind", kind)  # Its base is frozen.


class KeyOf(OverMcp):
    """Makes a text accept a key as it is, or the ref that lists and events have (`decision:api/auth`)."""

    def __init__(self, kind: str) -> None:
        super().__init__(partial(_without_kind, kind=kind))


# -- Conversions -----------------------------------------------------------------------------------


def _word_or_number(value: Any) -> Any:
    return value if isinstance(value, float) else word(value)


def _number_not_bool(value: Any) -> Any:
    if isinstance(value, bool):
        raise conversion_error("number", "must be a number, not true or false")
    return value


def _in_minutes(value: Any) -> Any:
    """The whole minutes in a length of time ("30m"); other values as they are."""
    try:
        span = find_span(value) if isinstance(value, str) else None
    except OverflowError:
        return value
    minutes, rest = divmod(span, timedelta(minutes=1)) if span else (0, True)
    return value if rest else minutes


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        try:
            return clean_number(value, "value")
        except InvalidInput as error:
            raise conversion_error("value", error.message.removeprefix("value ").rstrip(".")) from error
    raise conversion_error("value", "must be a text or a finite number")


def _moment(value: Any) -> Any:
    try:
        moment = parse_datetime(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None:
        raise conversion_error("moment", "must be a time in ISO 8601")
    return moment if is_aware(moment) else make_aware(moment)


def _parsed(opening: str) -> Callable[[Any], Any]:
    """Return a function that parses JSON strings, as some clients send arrays and objects in strings."""

    def parse(value: Any) -> Any:
        if isinstance(value, str) and value.lstrip().startswith(opening):
            try:
                return json.loads(value)
            except (ValueError, RecursionError):
                return value
        return value

    return parse


def _list(value: Any) -> Any:
    value = _parsed("[")(value)
    return [value] if isinstance(value, (str, int, dict)) and not isinstance(value, bool) else value


def _json(value: Any) -> Any:
    return _parsed("[")(_parsed("{")(value))


def _read_ref(value: Any, *, kind: str) -> Any:
    try:
        number = read_ref_id(value, kind)
    except InvalidInput as error:
        raise conversion_error("ref", error.message.rstrip(".")) from error
    return int(number) if read_id(str(number)) else number


def present(given: Mapping[str, Any]) -> dict[str, Any]:
    """Drop arguments that are null: strict clients send null for every argument they omit."""
    return {name: value for name, value in given.items() if value is not None}


def _without_kind(value: Any, *, kind: str) -> Any:
    return value.strip().removeprefix(f"{kind}:") if isinstance(value, str) else value


def _without_nulls(items: Any) -> Any:
    if not isinstance(items, list):
        return items
    return [present(item) if isinstance(item, dict) else item for item in items]


# -- Types -----------------------------------------------------------------------------------------

# A word of a fixed set, or its number.
FROM_NUMBER = OverRest(_word_or_number)
Word = Annotated[str, OverMcp(word), FROM_NUMBER]
# A text that a model may take for a number: a version.
Text = Annotated[str, OverMcp(word)]
# The ref of anything, or an id.
Ref = Annotated[Word, Shows({"type": "string"}, {"type": ["string", "integer"]})]
Number = Annotated[int, Converts(_number_not_bool)]
# A number of minutes, which models also write with a unit: "30m", "2h".
InMinutes = OverMcp(_in_minutes)
Share = Annotated[float, Converts(_number_not_bool), About(schema={"minimum": 0, "maximum": 1})]
Value = Annotated[
    str | int | float, Checks(_value), Shows({"type": "string"}, {"type": ["string", "number"]})
]
# Names: tags, scopes, kinds, verbs. Commas, semicolons and lines in a text separate them.
Words = Annotated[list[str], FromText(list_conversions.names), About(items=WORD)]
Agents = Annotated[list[str], FromText(list_conversions.agents), About(items=WORD)]
Refs = Annotated[list[str], FromText(list_conversions.refs), About(items=WORD)]
Texts = Annotated[list[str], OverMcp(_list)]
# Paths and globs; one text may name several, also over REST. `PathReader` of core/paths/ reads them.
PathList = Annotated[list[str], FromText(_list), NAMES_FILES]
Paths = Annotated[PathList, About("Globs of the files it bears on.", items=PATH)]
# An item that is no object is an error of that item, not of the whole call.
Items = Annotated[
    list[Any],
    OverMcp(_without_nulls),
    FromText(list_conversions.objects, is_shown=False),
    Shows({"type": "array", "items": {"type": "object"}}),
]
# Objects, or texts that say the most important of their fields.
ItemsOrTexts = Annotated[
    list[Any],
    OverMcp(_without_nulls),
    FromText(list_conversions.objects_or_texts),
    Shows({"type": "array", "items": {"type": "object"}}, {"type": "array", "items": {}}),
]
# Prose: a text that is no list in JSON or Python is one entry.
Prose = Annotated[list[str], FromText(read_entries), About(items=NOT_BLANK)]
Anything = Annotated[
    list[Any],
    FromText(read_entries),
    Shows({"type": "array", "items": {"type": "string"}}, {"type": "array", "items": {}}),
]
Object = Annotated[dict[str, Any], OverMcp(list_conversions.as_object)]
AsIds = FromText(list_conversions.ids, is_shown=False)
# Any JSON; the schema names what a model usually has.
Json = Annotated[Any, OverMcp(_json), Shows({"type": "object"}, {"type": ["object", "string"]})]

OptionalWord = Annotated[str, About(schema=OPTIONAL_WORD)]
OptionalName = Annotated[str, About(schema=OPTIONAL_NAME)]
# ISO 8601; without an offset it is the server's.
Moment = Annotated[datetime, Converts(_moment), About(schema={"format": "date-time"})]

# What lists take.
SINCE = 'A time ("2026-11-21T10:00:00Z"), a time ago ("30m", "7d") or an event\'s cursor ("e1234").'
InLayer = Annotated[str, About("In this layer.")]
InScope = Annotated[str, About("In this scope; `api/*` means every one below.")]
ByAgent = Annotated[str, About("By this agent.")]
# Of lists that are seldom filtered so: it works like the others, and costs nothing in every session.
ByAgentUndeclared = Annotated[ByAgent, UNDECLARED]
# Names or globs, one of which may have a comma in braces.
NameGlobs = Annotated[list[str], FromText(list_conversions.name_globs), About(items=NOT_BLANK)]
TAG_GLOBS = "`security` finds `security/tls`, too; globs as well: `sec*`, `security/*`, `{api,auth}`."
WithTags = Annotated[NameGlobs, About(f"With these tags. {TAG_GLOBS}")]
WithAnyTag = Annotated[NameGlobs, About(f"With any of these tags. {TAG_GLOBS}")]
WithoutTags = Annotated[NameGlobs, About(f"With none of these tags. {TAG_GLOBS}")]
Match = Annotated[str, Says("any|all", in_description=False), About("Any of the tags (left out), or all.")]
OnlyStale = Annotated[
    bool,
    About(
        "Only those that are stale: their files changed since they were written or confirmed. false: only"
        " the others; left out: all."
    ),
    UNDECLARED,
]
AT_MOST_A_PAGE = {"minimum": 1, "maximum": MAX_LIMIT}
Limit = Annotated[Number, Default(20), About("How many items a page holds; left out: 20.", AT_MOST_A_PAGE)]
Cursor = Annotated[str, About("`next` of the page before, as it is.")]

# What reads a long text in parts.
Lines = Annotated[
    Text,
    About(
        'Only these lines of its main text: "10-40", "10-", "12"; "12@21000-": from the 21,000th character '
        'of line 12; "rationale:1-": of another field. `next_lines`, as it is, reads on.'
    ),
]
Tail = Annotated[Number, About("Only so many of the last lines.")]

# Who limits an answer says either, wherever one of them is the only budget.
NAMES_OF_BUDGETS = ("max_tokens", "token_budget", "budget")

# A time in answers: 2026-11-21T10:00:00Z.
Time = Annotated[str, About(schema={"format": "date-time"})]
# In answers.
LinesOfHit = Annotated[str, About("Of a long text: the lines to read around the hit, as `lines` of get.")]
SizeOfHit = Annotated[int, About("Of a long text: its length in characters.")]
StaleChanges = Annotated[
    int,
    About(
        "How many changes of its files nobody has confirmed it against; below folder globs a day of them"
        " counts once."
    ),
]
