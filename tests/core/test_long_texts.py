"""Long texts are read to their last character by following `next_lines`, over MCP and REST."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from ctxhub.core.hub.partial_reads import Opened
from ctxhub.core.kit.answers import size
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.models import Project
from ctxhub.core.text.token_count import count_tokens
from ctxhub.toolbox.dispatch import as_text, call
from memory.constraints.services import add_constraint
from memory.decisions.services import set_decision
from memory.memories.services import add_memory, update_memory
from memory.scratchpads.services import update_scratchpad
from messaging.messages.services import send_message
from tests.hostile_texts import CORPUS
from tests.hub import McpClient, RestClient
from tests.memory.pads import pad_of
from tests.timing import within_cpu_seconds
from tests.tokens import o200k

pytestmark = pytest.mark.one_engine

MIB = 1_048_576
KIB_64 = 65_536
MANY_PARTS = 81_920  # Of the shortest lines five. A whole mebibyte is read by one reader.
MIXED = (
    ('Größe: 效能 👨‍👩‍👧‍👦 q\u0301 🇫🇮👍🏽 "quoted" and \\ more\r\n\n' * 60)
    + "no break here " * 100
    + "效能" * 200
)

Request = Callable[..., dict[str, Any]]


def read_all_parts(
    request: Request, text_of: Callable[[dict[str, Any]], tuple[dict[str, Any], str]], **first: Any
) -> str:
    """Joins all parts of a text. No `next_lines` may repeat, and no call take a second of a processor."""
    parts, marks, arguments = [], set(), first
    while True:
        with within_cpu_seconds(1):
            answer = request(**arguments)
        if budget := first.get("max_tokens", 20_000):
            assert count_tokens(as_text(answer)) <= max(int(budget), 230)
        item, text = text_of(answer)
        assert text
        parts.append(text)
        assert "truncated" in item or "next_lines" not in item
        if "next_lines" not in item:
            return "".join(parts)
        assert item["next_lines"] not in marks
        marks.add(item["next_lines"])
        arguments = {**first, "lines": item["next_lines"]}


# -- Readers ---------------------------------------------------------------------------------------


def write_decision(ada: Caller, text: str) -> None:
    set_decision(caller=ada, key="long/text", value=text)


def write_old_version(ada: Caller, text: str) -> None:
    set_decision(caller=ada, key="long/text", value=text)
    set_decision(caller=ada, key="long/text", value="short")


def write_constraint(ada: Caller, text: str) -> int:
    return add_constraint(caller=ada, category="security", text=text)["id"]


def write_message(ada: Caller, text: str) -> int:
    return send_message(caller=ada, text=text)["id"]


def write_memory(ada: Caller, text: str) -> int:
    return add_memory(caller=ada, title="Long", content=text)["id"]


def write_old_memory(ada: Caller, text: str) -> int:
    memory = write_memory(ada, text)
    update_memory(caller=ada, memory_id=memory, content="short")
    return memory


def write_pad(ada: Caller, text: str) -> int:
    return pad_of(ada, text)


def write_old_pad(ada: Caller, text: str) -> int:
    pad = pad_of(ada, text)
    update_scratchpad(caller=ada, scratchpad_id=pad, content="short")
    return pad


# By reader: the function that writes the text, its maximum size, the tool and arguments that read it, and
# the keys under which the answer has the text.
READERS: dict[str, tuple[Callable[[Caller, str], Any], int, str, dict[str, Any], tuple[str, ...]]] = {
    "get decision": (write_decision, KIB_64, "get", {"refs": ["decision:long/text"]}, ("items", "value")),
    "get constraint": (write_constraint, KIB_64, "get", {"refs": ["constraint:{}"]}, ("items", "text")),
    "get message": (write_message, KIB_64, "get", {"refs": ["message:{}"]}, ("items", "text")),
    "get memory": (write_memory, MANY_PARTS, "get", {"refs": ["memory:{}"]}, ("items", "content")),
    "get pad": (write_pad, MANY_PARTS, "get", {"refs": ["scratchpad:{}"]}, ("items", "content")),
    "memory get": (write_memory, MANY_PARTS, "memory", {"action": "get", "id": "{}"}, ("content",)),
    "memory revisions": (
        write_old_memory,
        MANY_PARTS,
        "memory",
        {"action": "revisions", "id": "{}", "revision": 1},
        ("content",),
    ),
    "scratchpad get": (
        write_pad,
        MIB,
        "scratchpad",
        {"action": "get", "scratchpad_id": "{}"},
        ("scratchpad", "content"),
    ),
    "scratchpad revisions": (
        write_old_pad,
        MANY_PARTS,
        "scratchpad",
        {"action": "revisions", "scratchpad_id": "{}", "revision": 1},
        ("scratchpad", "content"),
    ),
    "decision versions": (
        write_old_version,
        KIB_64,
        "decision",
        {"action": "versions", "key": "long/text", "version": "1.0.0"},
        ("decision", "value"),
    ),
}
ADDRESSES: dict[str, tuple[Callable[[Caller, str], Any], int, str, str]] = {
    "decision": (write_decision, KIB_64, "decisions/long/text/", "value"),
    "version": (write_old_version, KIB_64, "decisions/long/text/versions/?version=1.0.0", "value"),
    "constraint": (write_constraint, KIB_64, "constraints/{}/", "text"),
    "message": (write_message, KIB_64, "messages/{}/", "text"),
    "memory": (write_memory, MANY_PARTS, "memories/{}/", "content"),
    "old memory": (write_old_memory, MANY_PARTS, "memories/{}/revisions/1/", "content"),
    "pad": (write_pad, MANY_PARTS, "scratchpads/{}/", "content"),
    "revision": (write_old_pad, MANY_PARTS, "scratchpads/{}/revisions/1/", "content"),
}


def one_line(size: int) -> str:
    return "x" * size


def many_lines(size: int) -> str:
    """A text of this size with the most lines possible; a text may not be blank."""
    return "x" + "\n" * (size - 2) + "y"


def fill_in(arguments: Any, written: Any) -> Any:
    if isinstance(arguments, dict):
        return {name: fill_in(value, written) for name, value in arguments.items()}
    if isinstance(arguments, list):
        return [fill_in(value, written) for value in arguments]
    return arguments.format(written) if isinstance(arguments, str) else arguments


def part_in(answer: dict[str, Any], keys: tuple[str, ...]) -> tuple[dict[str, Any], str]:
    item: Any = answer
    for key in keys[:-1]:
        item = item[key]
        item = item[0] if isinstance(item, list) else item
    return item, item[keys[-1]]


@pytest.mark.parametrize("make", [one_line, many_lines])
@pytest.mark.parametrize("reader", READERS)
def test_the_longest_text_is_read_to_its_end_over_mcp(
    ada: Caller, ada_mcp: McpClient, reader: str, make: Callable[[int], str]
) -> None:
    write, size, tool, arguments, keys = READERS[reader]
    text = make(size)
    arguments = fill_in(arguments, write(ada, text))

    def request(**more: Any) -> dict[str, Any]:
        return ada_mcp.call(tool, **arguments, **more)

    assert read_all_parts(request, lambda answer: part_in(answer, keys)) == text


@pytest.mark.parametrize("budget", [1, 60, 250, 1_000])
@pytest.mark.parametrize("reader", READERS)
def test_a_small_budget_reads_to_the_end_too(ada: Caller, reader: str, budget: int) -> None:
    write, _, tool, arguments, keys = READERS[reader]
    text = MIXED if budget > 60 else MIXED[:500]
    arguments = fill_in(arguments, write(ada, text))

    def request(**more: Any) -> dict[str, Any]:
        return call(ada, tool, {**arguments, **more})

    assert read_all_parts(request, lambda answer: part_in(answer, keys), max_tokens=budget) == text


@pytest.mark.parametrize("make", [one_line, many_lines])
@pytest.mark.parametrize("address", ADDRESSES)
def test_the_longest_text_is_read_to_its_end_over_rest(
    ada: Caller, ada_rest: RestClient, address: str, make: Callable[[int], str]
) -> None:
    write, size, path, field = ADDRESSES[address]
    text = make(size)
    path = path.format(write(ada, text))
    request = request_over_rest(ada_rest, path)
    assert part_over_rest(request(), field)[1] == text  # Without parameters it is whole.
    assert read_all_parts(request, lambda item: part_over_rest(item, field), lines="1-") == text


@pytest.mark.parametrize("budget", [60, 250])
@pytest.mark.parametrize("address", ADDRESSES)
def test_a_small_budget_reads_to_the_end_over_rest_too(
    ada: Caller, ada_rest: RestClient, address: str, budget: int
) -> None:
    write, _, path, field = ADDRESSES[address]
    text = MIXED[: 700 if budget > 60 else 200]
    path = path.format(write(ada, text))
    request = request_over_rest(ada_rest, path)
    assert read_all_parts(request, lambda item: part_over_rest(item, field), max_tokens=budget) == text


def request_over_rest(rest: RestClient, path: str) -> Request:
    def request(**arguments: Any) -> dict[str, Any]:
        more = "&".join(f"{name}={quote(str(value))}" for name, value in arguments.items())
        reply = rest.get(f"{path}{'&' if '?' in path else '?'}{more}")
        assert reply.status == 200, reply.body
        body: dict[str, Any] = reply.body
        return body

    return request


def part_over_rest(answer: dict[str, Any], field: str) -> tuple[dict[str, Any], str]:
    return part_in(answer, ("items", field) if "items" in answer else (field,))


# -- Other fields ----------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [300, 500, 700, 1_000, 1_500, 10_000])
def test_a_cut_field_that_is_no_text_leaves_room_for_the_marks(budget: int) -> None:
    payload = {"log": "word " * 20_000, "numbers": list(range(2_000))}
    item = Opened({"ref": "message:1", "text": "Look.", "payload": payload}, "text").within(budget)
    assert size(item) <= budget
    assert item["payload"]["log"].startswith("word")


def test_a_payload_too_long_for_an_answer_is_read_as_json(ada: Caller) -> None:
    payload = {"log": "效能 " * 7_500, "numbers": list(range(2_000))}
    ref = f"message:{send_message(caller=ada, text='Look.', payload=payload)['id']}"
    answer = call(ada, "get", {"refs": [ref]})
    [item] = answer["items"]
    assert (item["text"], item["also_cut"], answer["truncated"]) == ("Look.", ["payload"], True)
    assert item["payload"]["log"].startswith("效能")
    assert "next_lines" not in item

    def request(**more: Any) -> dict[str, Any]:
        return call(ada, "get", {"refs": [ref], **more})

    read = read_all_parts(request, lambda answer: part_in(answer, ("items", "payload")), lines="payload:1-")
    assert read == as_text(payload)


def test_a_rationale_is_read_to_its_end_beside_a_long_value(ada: Caller) -> None:
    value, rationale = "龜鶴" * 10_900, "why? " * 13_000
    set_decision(caller=ada, key="k", value=value, rationale=rationale)

    def request(**more: Any) -> dict[str, Any]:
        return call(ada, "get", {"refs": ["decision:k"], **more})

    first = request()["items"][0]
    assert first["also_cut"] == ["rationale"]
    assert read_all_parts(request, lambda answer: part_in(answer, ("items", "value"))) == value
    read = read_all_parts(
        request, lambda answer: part_in(answer, ("items", "rationale")), lines="rationale:1-"
    )
    assert read == rationale


def test_a_value_cut_by_decision_get_is_continued_by_get(ada: Caller) -> None:
    value = "many words\n" * 5_000
    set_decision(caller=ada, key="k", value=value, metadata={"a": "long " * 8_000})
    answer = call(ada, "decision", {"action": "get", "key": "k", "max_tokens": 2_000})
    assert count_tokens(as_text(answer)) <= 2_000
    assert (answer["also_cut"], answer["total_lines"]) == (["metadata"], 5_000)
    rest = call(ada, "get", {"refs": ["decision:k"], "lines": answer["next_lines"]})
    assert answer["decision"]["value"] + rest["items"][0]["value"] == value


# -- Versions --------------------------------------------------------------------------------------


def versions(ada: Caller, **arguments: Any) -> dict[str, Any]:
    return call(ada, "decision", {"action": "versions", "key": "k", **arguments})


def test_one_version_has_its_whole_value(ada: Caller) -> None:
    for value in ("one\n" * 100, 5.5):
        set_decision(caller=ada, key="k", value=value)
    old = versions(ada, version="1.0.0")
    assert old == {
        "found": True,
        "decision": {
            "key": "k",
            "version": "1.0.0",
            "value": "one\n" * 100,
            "status": "active",
            "agent": "ada",
            "at": old["decision"]["at"],
        },
    }
    assert versions(ada, version=" 1.0.1 ")["decision"]["value"] == 5.5
    assert versions(ada, version="1.0.0", tail=1)["decision"]["value"] == "one\n"
    assert versions(ada, version="9")["found"] is False
    assert call(ada, "decision", {"action": "versions", "key": "kk", "version": "9"}) == {
        "found": False,
        "similar": ["k"],
    }


def test_lines_of_all_versions_are_refused(ada: Caller) -> None:
    for arguments in ({"lines": "1-"}, {"tail": 1}):
        with pytest.raises(InvalidInput, match="one version") as refused:
            versions(ada, **arguments)
        assert refused.value.body()["missing"] == ["version"]


def test_a_version_over_rest_is_a_page_of_one(ada: Caller, ada_rest: RestClient) -> None:
    set_decision(caller=ada, key="k", value="one\n" * 100)
    set_decision(caller=ada, key="k", value="two")
    page = ada_rest.get("decisions/k/versions/", version="1.0.0", lines="99-").body
    assert [(item["version"], item["value"], item["total_lines"]) for item in page["items"]] == [
        ("1.0.0", "one\none\n", 100)
    ]
    assert ada_rest.get("decisions/k/versions/", version="9").body["items"] == []
    reply = ada_rest.get("decisions/k/versions/", lines="1-")
    assert (reply.status, reply.body["missing"]) == (400, ["version"])


# -- Texts of other projects -----------------------------------------------------------------------


def test_no_part_of_another_projects_text_is_read(ada: Caller, cy: Caller, hermes: Project) -> None:
    pad = pad_of(ada, "secret")
    set_decision(caller=ada, key="k", value="secret")
    assert call(cy, "get", {"refs": ["decision:k"], "lines": "1-"}) == {
        "items": [],
        "missing": ["decision:k"],
    }
    assert versions(cy, version="1.0.0")["found"] is False
    for action in ({"action": "get"}, {"action": "revisions", "revision": 1}):
        assert call(cy, "scratchpad", {**action, "scratchpad_id": pad, "lines": "1-"}) == {"scratchpad": None}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("memories/{}/?lines=x", "is no range of lines"),
        ("memories/{}/?lines=nothing:1-", "content:1-"),
        ("memories/{}/?lines=1-&tail=2", "exclude one another"),
        ("memories/{}/?tail=0", "at least 1"),
        ("memories/{}/?max_tokens=0", "max_tokens"),
    ],
)
def test_an_invalid_part_is_refused_over_rest(
    ada: Caller, ada_rest: RestClient, path: str, message: str
) -> None:
    reply = ada_rest.get(path.format(write_memory(ada, "text")))
    assert (reply.status, reply.body["error"]) == (400, "invalid")
    assert message in str(reply.body)


@pytest.mark.parametrize("kind", ["javascript_code", "python_code", "chinese_traditional", "punctuation"])
def test_an_answer_keeps_the_budget_in_real_tokens(kind: str, ada: Caller) -> None:
    text = (CORPUS / f"{kind}.txt").read_text() * 40
    memory = call(ada, "memory", {"action": "add", "title": kind, "content": text})
    answer = call(ada, "memory", {"action": "get", "id": memory["id"]})
    assert answer["truncated"]
    assert 12_000 < o200k(as_text(answer)) <= 20_000
