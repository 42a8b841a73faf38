"""Numbers that clients send as texts: stored as numbers where the key has one or `numeric` says so."""

import json
from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.toolbox.dispatch import call
from memory.decisions.inputs import plain_number
from tests.hub import WHOLE, McpClient, RestClient

AS_NUMBER = "The text was stored as the number"


def set_(caller: Caller, value: Any, **more: Any) -> dict[str, Any]:
    return call(caller, "decision", {"action": "set", "key": "k", "value": value, **more})


def value(caller: Caller) -> Any:
    found = call(caller, "decision", {"action": "get", "key": "k"})["decision"]["value"]
    return found, type(found)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("50", 50),
        ("-1.5", -1.5),
        ("2e6", 2e6),
        (" 7\n", 7),
        ("0", 0),
        ("1.10", 1.1),
        ("9007199254740993", 2**53 + 1),
    ],
)
def test_a_plain_number_in_text_is_stored_as_a_number_where_the_key_has_one(
    ada: Caller, text: str, number: float
) -> None:
    set_(ada, 1234)
    answer = set_(ada, text)
    assert value(ada) == (number, type(number))
    assert answer["hint"] == f"{AS_NUMBER} {number!r}; numeric:false stores it as a text."


@pytest.mark.parametrize(
    "text", ["007", "+5", ".5", "5.", "1_000", "1,000", "1.2.3", "50 ms", "NaN", "1e999", "٣", "0x1f", ""]
)
def test_other_texts_stay_texts_where_the_key_has_a_number(ada: Caller, text: str) -> None:
    assert plain_number(text) is None
    set_(ada, 1234)
    assert "hint" not in set_(ada, text)
    assert value(ada) == (text, str)


@pytest.mark.parametrize("text", ["1.10", "007", "50"])
def test_on_a_key_with_texts_a_number_in_text_stays_a_text(ada: Caller, text: str) -> None:
    set_(ada, "v1")
    assert "hint" not in set_(ada, text)
    assert value(ada) == (text, str)


def test_a_new_key_keeps_the_text_and_says_how_to_store_a_number(ada: Caller) -> None:
    assert set_(ada, "50")["hint"] == "The value was stored as a text; numeric:true stores it as a number."
    assert value(ada) == ("50", str)
    assert set_(ada, "50", numeric=True)["hint"].startswith(f"{AS_NUMBER} 50;")
    assert value(ada) == (50, int)


def test_numeric_makes_a_number_of_a_new_key(ada: Caller) -> None:
    set_(ada, "50", numeric="true")
    assert value(ada) == (50, int)


def test_numeric_false_keeps_a_text_where_the_key_has_a_number(ada: Caller) -> None:
    set_(ada, 1)
    assert "hint" not in set_(ada, "50", numeric=False)
    assert value(ada) == ("50", str)


@pytest.mark.parametrize("text", ["007", "fast", "1e999"])
def test_numeric_refuses_what_is_no_plain_number(ada: Caller, text: str) -> None:
    with pytest.raises(InvalidInput, match="no plain number"):
        set_(ada, text, numeric=True)
    assert call(ada, "decision", {"action": "get", "key": "k"})["found"] is False


def test_numeric_false_refuses_a_number(ada: Caller) -> None:
    with pytest.raises(InvalidInput, match="is a number"):
        set_(ada, 50, numeric=False)


def test_the_same_number_in_text_changes_nothing(ada: Caller) -> None:
    set_(ada, 50)
    answer = set_(ada, "50")
    assert (answer["result"], answer["version"]) == ("unchanged", "1.0.0")


def test_a_deprecated_key_says_both(ada: Caller) -> None:
    set_(ada, 50)
    call(ada, "decision", {"action": "deprecate", "key": "k"})
    hint = set_(ada, "60")["hint"]
    assert "status active revives it" in hint
    assert AS_NUMBER in hint


def test_items_of_a_batch_are_converted_each_by_itself(ada: Caller) -> None:
    set_(ada, 50)
    items = [
        {"key": "k", "value": "60"},
        {"key": "n", "value": "70", "numeric": True},
        {"key": "t", "value": "x"},
    ]
    results = call(ada, "decision", {"action": "set_batch", "items": items})["results"]
    assert [AS_NUMBER in result.get("hint", "") for result in results] == [True, True, False]
    assert value(ada) == (60, int)


def test_a_number_that_an_earlier_item_of_the_batch_has_set_counts(ada: Caller) -> None:
    items = [{"key": "k", "value": 50}, {"key": "k", "value": "60"}]
    call(ada, "decision", {"action": "set_batch", "items": items})
    assert value(ada) == (60, int)


def test_quick_set_and_templates_convert(ada: Caller) -> None:
    call(ada, "decision", {"action": "quick_set", "key": "k", "value": "50", "numeric": True})
    assert value(ada) == (50, int)
    call(ada, "decision", {"action": "template_set", "name": "limit", "defaults": {"tags": ["limit"]}})
    answer = call(ada, "decision", {"action": "from_template", "name": "limit", "key": "k", "value": "60"})
    assert AS_NUMBER in answer["hint"]
    assert value(ada) == (60, int)


def test_rest_converts_as_the_tools_do(ada_rest: RestClient, ada: Caller) -> None:
    made = ada_rest.post("decisions/", {"key": "k", "value": "50", "numeric": True}, WHOLE).body
    assert (made["value"], AS_NUMBER in made["hint"]) == (50, True)
    for number, answer in (
        (60, ada_rest.post("decisions/", {"key": "k", "value": "60"}, WHOLE)),
        (70, ada_rest.patch("decisions/k/", {"value": "70", "numeric": None})),
        (80, ada_rest.put("decisions/k/", {"value": "80"})),
    ):
        assert (answer.body["value"], AS_NUMBER in answer.body["hint"]) == (number, True)
    kept = ada_rest.patch("decisions/k/", {"value": "90", "numeric": False}).body
    assert (kept["value"], "hint" in kept) == ("90", False)
    refused = ada_rest.post("decisions/", {"key": "k", "value": "fast", "numeric": True})
    assert (refused.status, "no plain number" in refused.body["message"]) == (400, True)


def test_a_client_that_can_only_send_texts_loses_no_number(ada_mcp: McpClient) -> None:
    ada_mcp.call("decision", "set", key="k", value=50)
    arguments = {"action": "set", "key": "k", "value": "60"}
    sent = ada_mcp.rpc("tools/call", {"name": "decision", "arguments": json.dumps(arguments)})["result"]
    assert AS_NUMBER in sent["content"][0]["text"]
    assert ada_mcp.call("decision", "get", key="k")["decision"]["value"] == 60
