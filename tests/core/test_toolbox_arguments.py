"""Arguments of an action: read from its signature, and calls checked against them."""

import os
import subprocess
import sys
from functools import cache
from typing import Annotated, Any, TypedDict, Unpack

import pytest
from django.conf import settings
from hypothesis import example, given
from hypothesis import strategies as st

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.unset import UNSET, Unset
from ctxhub.toolbox.actions import all_tools
from ctxhub.toolbox.argument import Argument
from ctxhub.toolbox.argument_types import (
    Anything,
    Default,
    Items,
    Limit,
    Number,
    Object,
    Says,
    Value,
    Word,
    Words,
)
from ctxhub.toolbox.arguments import Arguments
from ctxhub.toolbox.json_schemas import argument_schema, schema_by_pydantic


def sample(
    caller: Caller,
    key: str,
    value: Value,
    layer: str | Unset = UNSET,
    tags: Words | None = None,
    status: Annotated[Word, Says("active|draft")] | Unset = UNSET,
    items: Items | Unset = UNSET,
    extra: Anything | Unset = UNSET,
    metadata: Object | Unset = UNSET,
    limit: Number = 20,
    full: bool = False,
) -> dict[str, Any]:
    return {}


SAMPLE = Arguments.of_function(sample)


def check(**sent: Any) -> dict[str, Any]:
    return SAMPLE.check({"key": "k", "value": "v", **sent}, "sample.do", also=("agent",))


def test_a_signature_gives_required_arguments_and_their_shapes() -> None:
    assert str(SAMPLE) == (
        "key! value! layer tags[] status=active|draft items[] extra[] metadata{} limit=20 full=false"
    )


def test_schemas_give_only_the_type() -> None:
    assert {argument.name: argument.schema for argument in SAMPLE.all} == {
        "key": {"type": "string"},
        "value": {"type": "string"},
        "layer": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "status": {"type": "string"},
        "items": {"type": "array", "items": {"type": "object"}},
        "extra": {"type": "array", "items": {"type": "string"}},
        "metadata": {"type": "object"},
        "limit": {"type": "integer"},
        "full": {"type": "boolean"},
    }


def test_what_is_accepted_beyond_the_schema_is_known_to_openapi() -> None:
    accepted = {argument.name: argument.accepted for argument in SAMPLE.all}
    assert accepted["value"] == {"type": ["string", "number"]}
    assert accepted["extra"] == {"type": "array", "items": {}}
    assert accepted["key"] == {"type": "string"}


def test_absent_arguments_stay_absent() -> None:
    assert check() == {"key": "k", "value": "v"}


def test_null_is_absent() -> None:
    optional = dict.fromkeys(["layer", "tags", "metadata", "status", "limit", "full", "unknown"])
    assert check(**optional) == {"key": "k", "value": "v"}


def test_a_required_argument_that_is_null_is_missing() -> None:
    with pytest.raises(InvalidInput, match="needs key, value") as refused:
        check(key=None, value=None, layer="data")
    assert refused.value.details["missing"] == ["key", "value"]


def test_null_inside_an_argument_stays() -> None:
    assert check(metadata={"a": None}, extra=[None]) == {
        "key": "k",
        "value": "v",
        "metadata": {"a": None},
        "extra": [None],
    }


@pytest.mark.parametrize("items", [[{"a": 1, "b": None}], {"a": 1, "b": None}, '[{"a": 1, "b": null}]'])
def test_null_in_an_item_is_absent(items: Any) -> None:
    assert check(items=items)["items"] == [{"a": 1}]


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"tags": "api"}, ["api"]),
        ({"tags": '["a","b"]'}, ["a", "b"]),
        ({"tags": ' ["a"] '}, ["a"]),
        ({"tags": "a, b"}, ["a", "b"]),
        ({"tags": []}, []),
        ({"items": {"key": "k"}}, [{"key": "k"}]),
        ({"items": '[{"key":"k"}]'}, [{"key": "k"}]),
        ({"extra": ["a", {"b": 1}]}, ["a", {"b": 1}]),
        ({"extra": "a"}, ["a"]),
        ({"metadata": '{"a":1}'}, {"a": 1}),
        ({"metadata": ' {"a":{"b":[1]}}'}, {"a": {"b": [1]}}),
        ({"limit": "5"}, 5),
        ({"full": "true"}, True),
        ({"status": 1}, "1"),
        ({"status": 1.5}, "1.5"),
    ],
)
def test_values_are_converted_to_the_shape_of_their_argument(sent: dict[str, Any], expected: Any) -> None:
    [name] = sent
    assert check(**sent)[name] == expected


@pytest.mark.parametrize("text", ['["a"]', '{"a":1}', "5", "true", "null", " x "])
def test_a_value_is_never_parsed(text: str) -> None:
    assert check(value=text)["value"] == text


@pytest.mark.parametrize("value", [5, 5.5, 0, -1, 10**200])
def test_a_number_stays_the_number_it_is(value: Any) -> None:
    checked = check(value=value)["value"]
    assert (checked, type(checked)) == (value, type(value))


@pytest.mark.parametrize(
    "sent",
    [
        {"value": True}, {"value": ["x"]}, {"value": {"a": 1}}, {"value": float("nan")}, {"value": 10**300},
        {"layer": 5}, {"layer": ["data"]}, {"tags": 5}, {"tags": [1]}, {"tags": {"a": 1}}, {"tags": True},
        {"metadata": "x"}, {"metadata": [1]}, {"metadata": "{broken"}, {"metadata": 5}, {"items": "x"},
        {"items": 5}, {"limit": "x"}, {"limit": 1.5}, {"limit": True}, {"full": "perhaps"}, {"status": True},
        {"extra": 5.5},
    ],
)  # fmt: skip
def test_a_value_of_the_wrong_type_is_refused_by_name(sent: dict[str, Any]) -> None:
    [name] = sent
    with pytest.raises(InvalidInput, match=rf"sample\.do: {name}") as refused:
        check(**sent)
    assert refused.value.hint == f"Arguments: {SAMPLE}"


def test_all_errors_are_reported_at_once() -> None:
    with pytest.raises(InvalidInput) as refused:
        check(layer=5, limit="x", tags=["a", 1])
    assert all(name in refused.value.message for name in ("layer:", "limit:", "tags[1]:"))


def test_missing_arguments_are_named() -> None:
    with pytest.raises(InvalidInput, match=r"sample\.do needs key, value") as refused:
        SAMPLE.check({}, "sample.do")
    assert refused.value.details == {"missing": ["key", "value"]}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("valeu", "value"),
        ("Tags", "tags"),
        ("tag", "tags"),
        ("context_key", "key"),
        ("from_agent", None),
        ("parent", None),
        ("zzz", None),
    ],
)
def test_an_unknown_argument_gets_a_suggestion(name: str, expected: str | None) -> None:
    with pytest.raises(InvalidInput, match=f"no argument '{name}'") as refused:
        SAMPLE.check({name: "x"}, "sample.do", also=["agent"])
    assert refused.value.details["did_you_mean"] == ({name: expected} if expected else {})
    assert refused.value.details["allowed"] == ([] if expected else [*SAMPLE.names, "agent"])


def test_only_a_few_of_many_unknown_arguments_are_named() -> None:
    with pytest.raises(InvalidInput) as refused:
        check(**{f"{n:04}" + "x" * 10_000: n for n in range(5_000)})
    assert "and 4,995 more" in refused.value.message
    assert len(str(refused.value.body())) < 1_000


def test_only_a_few_of_many_wrong_entries_are_named() -> None:
    with pytest.raises(InvalidInput, match=r"tags\[4\].*and 995 more") as refused:
        check(tags=[1] * 1_000)
    assert len(refused.value.message) < 400


def test_items_of_any_type_are_passed_to_the_action() -> None:
    assert check(items=[5, None, "x", {}])["items"] == [5, None, "x", {}]


class Shared(TypedDict, total=False):
    tags: Words | Unset
    status: Annotated[Word, Says("active|draft")] | Unset
    limit: Limit
    full: Annotated[bool, Default(False)]


def test_a_signature_may_unpack_a_typed_dict() -> None:
    def sharing(caller: Caller, key: str, **rest: Unpack[Shared]) -> None: ...

    arguments = Arguments.of_function(sharing)
    assert str(arguments) == "key! tags[] status=active|draft limit=20 full=false"
    assert arguments.check({"key": "k"}, "do") == {"key": "k"}
    sent = {"key": "k", "tags": "a", "status": None}
    assert arguments.check(sent, "do") == {"key": "k", "tags": ["a"]}
    assert arguments.check({"key": "k", "tags": None}, "do") == {"key": "k"}
    with pytest.raises(InvalidInput, match="has no argument 'rest'"):
        arguments.check({"key": "k", "rest": {}}, "do")


# -- Without pydantic ------------------------------------------------------------------------------


def all_arguments() -> dict[str, Argument]:
    actions = [action for tool in all_tools().values() for action in tool.actions.values()]
    return {
        f"{action.call} {argument.name}": argument for action in actions for argument in action.arguments.all
    }


def test_schemas_are_those_of_pydantic() -> None:
    arguments = all_arguments()

    assert {name: argument.schema for name, argument in arguments.items()} == {
        name: schema_by_pydantic(argument.annotation) for name, argument in arguments.items()
    }


def test_a_type_that_is_not_usual_has_the_schema_of_pydantic() -> None:
    assert argument_schema(str | list[int]) == {
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]
    }


plain = st.one_of(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=5),
    st.sampled_from(["7", "memory:7", "[1, 2]", "1,2", '["a"]', '{"a": 1}', "2026-11-21", "\ud800", "é"]),
)
values = st.recursive(plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner))


@cache
def all_types() -> list[Arguments]:
    """One argument of each type."""
    return [
        Arguments([argument])
        for argument in {repr(a.annotation): a for a in all_arguments().values()}.values()
    ]


@given(values)
@example("\ud800")
@example({"\ud800": 1})
@example([True])
@example([1.0])
@example(float("nan"))
@example(10**30)
def test_values_that_are_checked_without_pydantic_are_what_it_makes_of_them(value: Any) -> None:
    for arguments in all_types():
        sent = {arguments.names[0]: value}
        if (read := arguments._read_plain(sent)) is not None:
            assert repr(read) == repr(arguments._over_mcp.validate_python(sent)), arguments


def test_values_of_the_declared_types_are_checked_without_pydantic() -> None:
    arguments = {"key": "k", "value": 1.5, "tags": "one", "limit": 3, "items": '[{"a": null}]', "full": True}

    assert SAMPLE._read_plain(arguments) == {**arguments, "tags": ["one"], "items": [{}]}


def test_values_of_other_types_are_left_to_pydantic() -> None:
    assert SAMPLE._read_plain({"key": "k", "value": "v", "limit": "3"}) is None
    assert check(limit="3")["limit"] == 3


TOOLS_AND_A_CALL = """
import os, sys
os.environ |= {"CTXHUB_WEB": "false", "DJANGO_SETTINGS_MODULE": "ctxhub.settings"}
import django
django.setup()
from ctxhub.core.kit.caller import ALL_SCOPES, Caller
from ctxhub.core.models import Project
from ctxhub.toolbox.actions import all_tools
from ctxhub.toolbox.picking import check_arguments
from ctxhub.toolbox.tool_list import list_tools
list_tools(Caller(project=Project(slug="apollo"), agent="ada", scopes=frozenset(ALL_SCOPES)))
check_arguments(all_tools()["decision"].actions["set"], {"key": "k", "value": "v", "tags": ["a"]})
print("pydantic" in sys.modules)
"""


def test_pydantic_is_loaded_neither_for_the_tools_nor_for_an_ordinary_call() -> None:
    environ = {
        **os.environ,
        "CTXHUB_VAR_DIR": str(settings.VAR_DIR),
        "CTXHUB_SECRET_KEY": settings.SECRET_KEY,
    }
    done = subprocess.run(
        [sys.executable, "-c", TOOLS_AND_A_CALL],
        capture_output=True,
        text=True,
        cwd=settings.BASE_DIR,
        env=environ,
    )

    assert (done.stdout, done.stderr) == ("False\n", "")
