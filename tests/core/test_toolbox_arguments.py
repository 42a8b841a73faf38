"""What an action takes is read from its signature, and a call is checked against it in one place."""

from typing import Annotated, Any, TypedDict, Unpack

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.unset import UNSET, Unset
from ctxhub.core.toolbox.argument_types import Anything, Items, Number, Object, Says, Value, Word, Words
from ctxhub.core.toolbox.arguments import Arguments


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


def check(**given: Any) -> dict[str, Any]:
    return SAMPLE.check({"key": "k", "value": "v", **given}, "sample.do", also=("agent",))


def test_a_signature_tells_what_is_required_and_of_which_shape() -> None:
    assert str(SAMPLE) == (
        "key! value! layer tags[] status=active|draft items[] extra[] metadata{} limit=20 full=false"
    )


def test_schemas_say_the_type_and_nothing_more() -> None:
    assert {argument.name: argument.schema for argument in SAMPLE.all} == {
        "key": {"type": "string"},
        "value": {"type": ["string", "number"]},
        "layer": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "status": {"type": "string"},
        "items": {"type": "array", "items": {"type": "object"}},
        "extra": {"type": "array", "items": {}},
        "metadata": {"type": "object"},
        "limit": {"type": "integer"},
        "full": {"type": "boolean"},
    }


def test_what_is_absent_is_not_there() -> None:
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
    ("given", "taken"),
    [
        ({"tags": "api"}, ["api"]),
        ({"tags": '["a","b"]'}, ["a", "b"]),
        ({"tags": ' ["a"] '}, ["a"]),
        ({"tags": "[a"}, ["[a"]),
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
def test_a_near_miss_is_understood(given: dict[str, Any], taken: Any) -> None:
    [name] = given
    assert check(**given)[name] == taken


@pytest.mark.parametrize("text", ['["a"]', '{"a":1}', "5", "true", "null", " x "])
def test_a_value_is_never_parsed(text: str) -> None:
    assert check(value=text)["value"] == text


@pytest.mark.parametrize("value", [5, 5.5, 0, -1, 10**200])
def test_a_number_stays_the_number_it_is(value: Any) -> None:
    taken = check(value=value)["value"]
    assert (taken, type(taken)) == (value, type(value))


@pytest.mark.parametrize(
    "given",
    [
        {"value": True}, {"value": ["x"]}, {"value": {"a": 1}}, {"value": float("nan")}, {"value": 10**300},
        {"layer": 5}, {"layer": ["data"]}, {"tags": 5}, {"tags": [1]}, {"tags": {"a": 1}}, {"tags": True},
        {"metadata": "x"}, {"metadata": [1]}, {"metadata": "{broken"}, {"metadata": 5}, {"items": "x"},
        {"items": 5}, {"limit": "x"}, {"limit": 1.5}, {"limit": True}, {"full": "perhaps"}, {"status": True},
        {"extra": 5.5},
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_by_its_name(given: dict[str, Any]) -> None:
    [name] = given
    with pytest.raises(InvalidInput, match=rf"sample\.do: {name}") as refused:
        check(**given)
    assert refused.value.hint == f"Arguments: {SAMPLE}"


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(InvalidInput) as refused:
        check(layer=5, limit="x", tags=["a", 1])
    assert all(name in refused.value.message for name in ("layer:", "limit:", "tags[1]:"))


def test_what_is_missing_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"sample\.do needs key, value") as refused:
        SAMPLE.check({}, "sample.do")
    assert refused.value.details == {"missing": ["key", "value"]}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("valeu", "value"),
        ("Tags", "tags"),
        ("tag", "tags"),
        ("context_key", "key"),
        ("from_agent", "agent"),
        ("zzz", None),
    ],
)
def test_an_unknown_argument_is_told_what_was_meant(name: str, meant: str | None) -> None:
    with pytest.raises(InvalidInput, match=f"no argument '{name}'") as refused:
        SAMPLE.check({name: "x"}, "sample.do", also=["agent"])
    assert refused.value.details["did_you_mean"] == ({name: meant} if meant else {})
    assert refused.value.details["allowed"] == [*SAMPLE.names, "agent"]


def test_of_many_unknown_arguments_a_few_are_named() -> None:
    with pytest.raises(InvalidInput) as refused:
        check(**{f"{n:04}" + "x" * 10_000: n for n in range(5_000)})
    assert "and 4,995 more" in refused.value.message
    assert len(str(refused.value.body())) < 1_000


def test_of_many_wrong_entries_a_few_are_named() -> None:
    with pytest.raises(InvalidInput, match=r"tags\[4\].*and 995 more") as refused:
        check(tags=[1] * 1_000)
    assert len(refused.value.message) < 400


def test_items_of_any_kind_are_left_to_their_action() -> None:
    assert check(items=[5, None, "x", {}])["items"] == [5, None, "x", {}]


class Shared(TypedDict, total=False):
    tags: Words | Unset
    status: Annotated[Word, Says("active|draft")] | Unset


def test_actions_may_share_the_arguments_of_one_shape() -> None:
    def sharing(caller: Caller, key: str, **rest: Unpack[Shared]) -> None: ...

    arguments = Arguments.of_function(sharing)
    assert str(arguments) == "key! tags[] status=active|draft"
    assert arguments.check({"key": "k"}, "do") == {"key": "k"}
    given = {"key": "k", "tags": "a", "status": None}
    assert arguments.check(given, "do") == {"key": "k", "tags": ["a"]}
    assert arguments.check({"key": "k", "tags": None}, "do") == {"key": "k"}
    with pytest.raises(InvalidInput, match="has no argument 'rest'"):
        arguments.check({"key": "k", "rest": {}}, "do")
