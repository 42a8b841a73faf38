"""Refs without a kind: understood where one thing can be meant."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.hub.refs import file_named, meanings_of
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.models import Project
from ctxhub.toolbox.dispatch import call
from tests.hub import McpClient, RestClient

pytestmark = pytest.mark.one_engine


@pytest.fixture
def rounding(ada_mcp: McpClient) -> str:
    ada_mcp.call("decision", "set", key="billing/rounding", value="half even")
    return "billing/rounding"


def test_get_understands_the_name_of_one_thing(ada_mcp: McpClient, rounding: str) -> None:
    ada_mcp.call("memory", "context_create", name="shop")
    ada_mcp.call("file", "record", path="src/a.py", change="modified")
    answer = ada_mcp.call("get", refs=[rounding, "shop", "src/a.py"])
    kinds = [item["ref"].partition(":")[0] for item in answer["items"]]
    assert (kinds, answer["missing"]) == (["decision", "context", "resource"], [])
    assert answer["missing"] == []


def test_get_over_rest_understands_it_too(ada_rest: RestClient, rounding: str) -> None:
    reply = ada_rest.post("call/get/", {"refs": [rounding]})
    assert [item["ref"] for item in reply.body["items"]] == ["decision:billing/rounding"]


def test_a_name_of_several_things_names_them(ada_mcp: McpClient, rounding: str) -> None:
    ada_mcp.call("memory", "context_create", name=rounding)
    answer = ada_mcp.call("get", refs=[rounding])
    assert answer["error"] == "invalid"
    assert answer["allowed"] == ["decision:billing/rounding", "context:billing/rounding"]


def test_a_name_of_nothing_is_not_found_and_names_what_is_near(ada_mcp: McpClient, rounding: str) -> None:
    answer = ada_mcp.call("get", refs=["billing/roundng"])
    assert (answer["error"], answer["near"]) == ("not_found", ["decision:billing/rounding"])


def test_a_template_is_a_thing_with_a_name(ada_mcp: McpClient) -> None:
    ada_mcp.call("decision", "template_set", name="incident", require=["rationale"])
    assert ada_mcp.call("get", refs=["incident"])["items"][0]["ref"] == "template:incident"


def test_a_name_with_and_without_its_kind_is_one_thing(ada_mcp: McpClient, rounding: str) -> None:
    answer = ada_mcp.call("get", refs=[rounding, f"decision:{rounding}"])
    assert len(answer["items"]) == 1


def test_a_deletion_takes_no_guess_and_names_what_may_be_meant(ada_mcp: McpClient, rounding: str) -> None:
    answer = ada_mcp.call("delete", refs=[rounding])
    assert (answer["error"], answer["did_you_mean"]) == ("invalid", "decision:billing/rounding")
    assert ada_mcp.call("decision", "get", key=rounding)["found"]


def test_names_of_another_project_mean_nothing(cy_mcp: McpClient, rounding: str) -> None:
    answer = cy_mcp.call("get", refs=[rounding])
    assert (answer["error"], "near" in answer) == ("not_found", False)


@pytest.mark.parametrize("said", ["memory 17", "memory/17", "Memory #17"])
def test_a_kind_and_an_id_without_a_colon_is_suggested(ada_mcp: McpClient, said: str) -> None:
    assert ada_mcp.call("get", refs=[said])["did_you_mean"] == "memory:17"


def test_a_file_is_a_resource_in_every_list_of_refs(ada_mcp: McpClient) -> None:
    ada_mcp.call("file", "record", path="src/a.py", change="modified")
    assert ada_mcp.call("get", refs=["file:src/a.py"])["items"][0]["ref"] == "resource:src/a.py"
    assert "resource is not deleted" in str(ada_mcp.call("delete", refs=["file:src/a.py"]))
    cause = ada_mcp.call("snapshot", "save", content="Mended it.", dependencies=["file:src/a.py"])
    assert "'file' is not known" not in str(cause)


@pytest.mark.parametrize("ref", ["a\x00b", "\u200b", "x" * 2_000, "a\nb"])
def test_what_can_be_no_name_is_refused(ada_mcp: McpClient, ref: str) -> None:
    assert ada_mcp.call("get", refs=[ref])["error"] in ("invalid", "not_found")


def test_an_address_is_no_ref(ada_mcp: McpClient) -> None:
    assert ada_mcp.call("get", refs=["file:///home/ada/a.py"])["error"] == "invalid"


def test_a_decision_whose_key_begins_like_a_file_is_one(ada_mcp: McpClient) -> None:
    ada_mcp.call("file", "record", path="b.py", change="modified")
    assert ada_mcp.call("get", refs=["decision:file:b.py"])["missing"] == ["decision:file:b.py"]


def test_only_refs_without_a_kind_take_more_queries(ada: Caller) -> None:
    def queries(*refs: str) -> int:
        with CaptureQueriesContext(connection) as found:
            meanings_of(ada.project_id, refs)
        return len(found)

    assert queries("decision:a", "17", "memory:4") == 0
    assert queries("a") == queries("a", "b", "c/d")
    assert queries("a") <= 6


# -- Results of requests ---------------------------------------------------------------------------


@pytest.fixture
def request_id(ada_mcp: McpClient, ben_mcp: McpClient) -> int:
    ben_mcp.call("message", "inbox")
    sent = ada_mcp.call("message", "send", text="Mend it.", to=["ben"], type="request")
    return int(sent["id"])


RESULTS: list[tuple[dict[str, Any], list[str]]] = [
    ({"result": "tests/x.py"}, ["resource:tests/x.py"]),
    ({"result_refs": ["tests/x.py:42", "./src/b.py"]}, ["resource:tests/x.py", "resource:src/b.py"]),
    ({"result_refs": "file:src/a.py"}, ["resource:src/a.py"]),
    ({"results": ["decision:k", "a.md"]}, ["decision:k", "resource:a.md"]),
    ({"refs": ["billing/rounding"]}, ["decision:billing/rounding"]),
]


@pytest.mark.parametrize(("given", "stored"), RESULTS, ids=str)
def test_a_path_and_a_key_are_results(
    ben_mcp: McpClient, request_id: int, rounding: str, given: dict[str, Any], stored: list[str]
) -> None:
    assert ben_mcp.call("message", "done", id=request_id, **given)["result_refs"] == stored
    [item] = ben_mcp.call("get", refs=[f"message:{request_id}"])["items"]
    assert item["result_refs"] == stored


def test_a_path_is_a_result_over_rest(ben_rest: RestClient, request_id: int) -> None:
    reply = ben_rest.post(f"messages/{request_id}/done/", {"result_refs": ["tests/x.py"]})
    assert reply.body["result_refs"] == ["resource:tests/x.py"]


def test_a_sentence_is_no_result(ben_mcp: McpClient, request_id: int) -> None:
    answer = ben_mcp.call("message", "done", id=request_id, result="All tests pass.")
    assert answer["error"] == "invalid"
    assert "resource:src/a.py" in answer["hint"]
    assert "message send" in answer["hint"]
    [item] = ben_mcp.call("get", refs=[f"message:{request_id}"])["items"]
    assert item["state"] == "open"


def test_a_result_that_names_several_things_names_them(
    ada_mcp: McpClient, ben_mcp: McpClient, request_id: int, rounding: str
) -> None:
    ada_mcp.call("memory", "context_create", name=rounding)
    answer = ben_mcp.call("message", "done", id=request_id, result_refs=[rounding])
    assert answer["allowed"] == ["decision:billing/rounding", "context:billing/rounding"]


def test_who_may_not_read_is_not_told_what_has_a_name(apollo: Project, rounding: str) -> None:
    writer = Caller(project=apollo, agent="eve", scopes=frozenset({"write"}))
    for tool, arguments in (
        ("delete", {"refs": [rounding]}),
        ("message", {"action": "done", "id": 1, "result_refs": [rounding]}),
    ):
        with pytest.raises(InvalidInput, match="is not a ref") as refused:
            call(writer, tool, arguments)
        assert "did_you_mean" not in refused.value.details


@pytest.mark.parametrize("name", ["nothing", "api/auth", "17", "e.g.", "a b.py", "v1.2", "..", "x.1", ""])
def test_what_may_be_no_file_is_none(name: str) -> None:
    assert file_named(name) == ""


@pytest.mark.parametrize("name", ["a.py", "src/a.py", ".github/x.yml", "docs/read me.md".replace(" ", "-")])
def test_what_can_only_be_a_file_is_one(name: str) -> None:
    assert file_named(name) == f"resource:{name}"
