"""Reading pads: whole, in part, several at once, within the token budget of an answer."""

import json
from typing import Any

import pytest

from ctxhub.core.kit.answers import MAX_TOKENS, size
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.toolbox.dispatch import call
from memory.scratchpads.queries import list_scratchpads
from memory.scratchpads.services import append_to_scratchpad, update_scratchpad
from tests.memory.pads import new_workflow, pad_of
from tests.timing import within_cpu_seconds

TEN = "\n".join(f"line {n}" for n in range(1, 11))


def get(caller: Caller, **arguments: Any) -> dict[str, Any]:
    return call(caller, "scratchpad", {"action": "get", **arguments})


def read(caller: Caller, pad: int, **arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = get(caller, scratchpad_id=pad, **arguments)["scratchpad"]
    return found


# -- One pad and several ---------------------------------------------------------------------------


def test_a_pad_has_the_fields_of_the_contract(ada: Caller) -> None:
    workflow = new_workflow(ada)
    pad = pad_of(ada, "text", workflow=workflow)
    found = read(ada, pad)
    assert found == {
        "id": pad,
        "name": "code_analysis",
        "workflow_id": workflow,
        "content": "text",
        "created_at": found["created_at"],
        "updated_at": found["updated_at"],
        "revision": 1,
    }


def test_several_pads_come_once_each_in_the_given_order(ada: Caller) -> None:
    first, second = pad_of(ada, "a"), pad_of(ada, "b")
    answer = get(ada, scratchpad_ids=[second, 10**30, first, second, 999_999, 0])
    assert [pad["content"] for pad in answer["scratchpads"]] == ["b", "a"]
    assert answer["missing"] == [10**30, 999_999, 0]


@pytest.mark.parametrize("pad", [0, -3, 999_999, 2**63, 10**40])
def test_an_unknown_pad_is_null(ada: Caller, pad: int) -> None:
    assert get(ada, scratchpad_id=pad) == {"scratchpad": None}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either"),
        ({"scratchpad_id": 1, "scratchpad_ids": [1]}, "either"),
        ({"scratchpad_ids": []}, "0 entries"),
        ({"scratchpad_ids": list(range(1, 52))}, "51 entries"),
        ({"scratchpad_ids": [True]}, "not true or false"),
        ({"scratchpad_id": "code_analysis"}, "valid integer"),
        ({"scratchpad_id": 1, "lines": "1-2", "tail": 3}, "lines and tail exclude one another"),
        ({"scratchpad_id": 1, "lines": "1-2", "outline": True}, "exclude one another"),
        ({"scratchpad_id": 1, "tail": 3, "outline": True}, "exclude one another"),
        ({"scratchpad_id": 1, "tail": 0}, "at least 1"),
        ({"scratchpad_id": 1, "tail": -1}, "at least 1"),
        ({"scratchpad_id": 1, "max_tokens": 0}, "max_tokens"),
    ],
)
def test_invalid_arguments_are_refused(ada: Caller, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        get(ada, **arguments)


# -- Ranges of lines -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "first", "last"),
    [
        ({"lines": "2-4"}, 2, 4),
        ({"lines": " 2 - 4 "}, 2, 4),
        ({"lines": "3"}, 3, 3),
        ({"lines": 3}, 3, 3),
        ({"lines": "8-"}, 8, 10),
        ({"lines": "8-999999999"}, 8, 10),
        ({"tail": 1}, 10, 10),
        ({"tail": 3}, 8, 10),
        ({"tail": 10**30}, 1, 10),
    ],
)
def test_a_range_of_lines_has_its_numbers(
    ada: Caller, arguments: dict[str, Any], first: int, last: int
) -> None:
    found = read(ada, pad_of(ada, f"{TEN}\n"), **arguments)
    # A range that reaches the last line includes the final line break.
    end = "\n" if last == 10 else ""
    assert found["content"] == "\n".join(f"line {n}" for n in range(first, last + 1)) + end
    assert (found["lines"], found["total_lines"]) == (f"{first}-{last}", 10)


@pytest.mark.parametrize(
    ("text", "arguments"), [(TEN, {"lines": "11-20"}), ("", {"tail": 3}), ("", {"lines": "1"})]
)
def test_lines_after_the_end_are_empty(ada: Caller, text: str, arguments: dict[str, Any]) -> None:
    found = read(ada, pad_of(ada, text), **arguments)
    assert (found["content"], found.get("lines")) == ("", None)
    assert found["total_lines"] == (10 if text else 0)


@pytest.mark.parametrize(
    "lines",
    [
        "",
        "0",
        "0-3",
        "4-2",
        "-3",
        "a-b",
        "1-2-3",
        "1,2",
        "٣",
        "9999999999",
        "0@1-",
        "1@0-",
        "1@",
        "@3-",
        "1-2@3",
        "content:",
        "content:-3",
    ],
)
def test_an_invalid_range_is_refused(ada: Caller, lines: str) -> None:
    with pytest.raises(InvalidInput, match="is no range of lines"):
        read(ada, pad_of(ada, TEN), lines=lines)


def test_the_outline_of_a_mebibyte_is_made_in_time(ada: Caller) -> None:
    pad = pad_of(ada, "# x\n" * 262_144)
    with within_cpu_seconds(1):  # Mostly 0.15; it took 17.
        found = read(ada, pad, outline=True)
    assert len(found["outline"]["rows"]) + found["omitted"] == found["outline"]["count"] == 262_144
    assert (found["truncated"], found["total_lines"]) == (True, 262_144)


def test_an_outline_has_headings_and_no_text(ada: Caller) -> None:
    found = read(ada, pad_of(ada, "# A\n```\n# no\n```\n## B ##\ntext"), outline=True)
    rows = [[1, "A", 1, 29], [2, "B", 5, 12]]
    assert found["outline"] == {"columns": ["level", "text", "line", "size"], "rows": rows, "count": 2}
    assert "content" not in found
    assert found["total_lines"] == 6


def test_tail_applies_to_each_of_several_pads(ada: Caller) -> None:
    pads = [pad_of(ada, TEN), pad_of(ada, "a\nb")]
    answer = get(ada, scratchpad_ids=pads, tail=1)
    assert [pad["content"] for pad in answer["scratchpads"]] == ["line 10", "b"]


# -- Token budget ----------------------------------------------------------------------------------

LONG = "".join(f'line {n}: "效能" and \\ more\n' for n in range(1, 20_001))


@pytest.mark.one_engine
def test_a_long_pad_is_cut_after_a_line_and_names_the_next_lines(ada: Caller) -> None:
    pad = pad_of(ada, LONG)
    answer = get(ada, scratchpad_id=pad)
    assert MAX_TOKENS * 0.95 < size(answer) <= MAX_TOKENS
    *lines, end = answer["scratchpad"]["content"].split("\n")
    assert (lines, end) == (LONG.split("\n")[: len(lines)], "")
    marks = {"truncated": True, "total_lines": 20_000, "next_lines": f"{len(lines) + 1}-20000"}
    assert {name: answer[name] for name in marks} == marks
    assert {name: answer["scratchpad"][name] for name in marks} == marks


@pytest.mark.parametrize("budget", [500, 3_000, MAX_TOKENS])
def test_next_lines_lead_to_the_end_of_a_long_pad(ada: Caller, budget: int) -> None:
    text = LONG[:200_000] if budget == MAX_TOKENS else LONG[:20_000]
    pad = pad_of(ada, text)
    read_so_far, lines = "", None
    for _ in range(100):
        answer = get(ada, scratchpad_id=pad, max_tokens=budget, **({"lines": lines} if lines else {}))
        assert size(answer) <= budget
        read_so_far += answer["scratchpad"]["content"]
        lines = answer.get("next_lines")
        if lines is None:
            break
    assert read_so_far == text


def test_next_lines_of_a_range_count_from_the_start_of_the_pad(ada: Caller) -> None:
    answer = get(ada, scratchpad_id=pad_of(ada, LONG), lines="1000-1999", max_tokens=1_000)
    first, last = map(int, answer["scratchpad"]["lines"].split("-"))
    assert first == 1_000
    assert answer["next_lines"] == f"{last + 1}-1999"
    assert answer["scratchpad"]["content"].splitlines()[-1].startswith(f"line {last}:")
    assert answer["total_lines"] == 20_000


@pytest.mark.one_engine
@pytest.mark.parametrize(
    "text", ["x" * 300_000, "効" * 300_000, '"\\' * 150_000, "🙂" * 100_000, " " * 900_000]
)
def test_a_very_long_line_is_cut_inside_the_line(ada: Caller, text: str) -> None:
    answer = get(ada, scratchpad_id=pad_of(ada, text))
    assert size(answer) <= MAX_TOKENS
    content = answer["scratchpad"]["content"]
    assert len(content) > 5_000
    assert text.startswith(content)
    assert (answer["truncated"], answer["next_lines"]) == (True, f"1@{len(content) + 1}-")


@pytest.mark.one_engine
def test_several_pads_share_the_budget_and_each_names_its_next_lines(ada: Caller) -> None:
    pads = [pad_of(ada, "short"), pad_of(ada, LONG), pad_of(ada, LONG[:2_000]), pad_of(ada, LONG)]
    answer = get(ada, scratchpad_ids=pads, max_tokens=8_000)
    assert 0.9 * 8_000 < size(answer) <= 8_000
    short, long, middle, other = answer["scratchpads"]
    assert (short["content"], middle["content"]) == ("short", LONG[:2_000])
    assert "truncated" not in short
    assert "truncated" not in middle
    assert abs(len(long["content"]) - len(other["content"])) < 100
    assert long["next_lines"] == f"{long['content'].count(chr(10)) + 1}-20000"
    assert answer["truncated"] is True


@pytest.mark.one_engine
def test_fifty_full_pads_still_fit_into_one_answer(ada: Caller) -> None:
    workflow = new_workflow(ada)
    pads = [pad_of(ada, LONG[:100_000], workflow=workflow) for _ in range(50)]
    answer = get(ada, scratchpad_ids=pads)
    assert size(answer) <= MAX_TOKENS
    assert len(answer["scratchpads"]) == 50
    assert all(pad["content"] and pad["truncated"] for pad in answer["scratchpads"])


@pytest.mark.one_engine
@pytest.mark.parametrize("budget", [1, 20, 60])
def test_the_smallest_budget_is_answered(ada: Caller, budget: int) -> None:
    answer = get(ada, scratchpad_id=pad_of(ada, LONG), max_tokens=budget)
    assert len(json.dumps(answer)) < 600


@pytest.mark.one_engine
def test_a_revision_is_cut_as_well(ada: Caller) -> None:
    pad = pad_of(ada, LONG)
    update_scratchpad(caller=ada, scratchpad_id=pad, content="new")
    answer = call(ada, "scratchpad", {"action": "revisions", "scratchpad_id": pad, "revision": 1})
    assert size(answer) <= MAX_TOKENS
    assert answer["total_lines"] == 20_000


# -- Lists -----------------------------------------------------------------------------------------


def test_pads_are_listed_in_order_of_creation(ada: Caller) -> None:
    workflow = new_workflow(ada)
    first = pad_of(ada, "效能", "first", workflow)
    pad_of(ada, "", "second", workflow)
    append_to_scratchpad(caller=ada, scratchpad_id=first, content="x")
    listing = list_scratchpads(ada.project_id, workflow)
    assert [(row["name"], row["length"], row["content"]) for row in listing.objects()] == [
        ("first", 5, None),
        ("second", 0, None),
    ]
    whole = list_scratchpads(ada.project_id, workflow, include_content=True).objects()
    assert [row["content"] for row in whole] == ["效能\n\nx", ""]


@pytest.mark.parametrize("workflow", [0, 999_999, 2**63, 10**40])
def test_an_unknown_workflow_has_no_pads(ada: Caller, workflow: int) -> None:
    listing = list_scratchpads(ada.project_id, workflow)
    assert (listing.rows, listing.extra) == ([], {"total": 0})


@pytest.mark.parametrize("include_content", [False, True])
def test_pages_continue_without_a_gap_or_a_duplicate(ada: Caller, include_content: bool) -> None:
    workflow = new_workflow(ada)
    ids = [pad_of(ada, "x", workflow=workflow) for _ in range(5)]
    found, cursor = [], None
    for _ in range(3):
        page = list_scratchpads(
            ada.project_id, workflow, include_content=include_content, limit=2, cursor=cursor
        )
        found += [row[0] for row in page.rows]
        cursor = page.next
    assert (found, cursor) == (ids, None)


def test_a_page_with_contents_ends_at_the_size_of_an_answer(ada: Caller) -> None:
    workflow = new_workflow(ada)
    ids = [pad_of(ada, "x" * 150_000, workflow=workflow) for _ in range(3)]
    first = list_scratchpads(ada.project_id, workflow, include_content=True)
    assert ([row[0] for row in first.rows], first.extra["total"]) == (ids[:1], 3)
    second = list_scratchpads(ada.project_id, workflow, include_content=True, cursor=first.next)
    assert [row[0] for row in second.rows] == ids[1:2]


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 201}, {"cursor": "nowhere"}])
def test_invalid_page_arguments_are_refused(ada: Caller, query: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        list_scratchpads(ada.project_id, 1, **query)
