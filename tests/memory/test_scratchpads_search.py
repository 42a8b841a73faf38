"""Search over pads, and for the matching lines of one pad."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.search.excerpts import Wanted
from memory.scratchpads.search import marked, search_scratchpads
from memory.scratchpads.services import append_to_scratchpad, delete_scratchpad, update_scratchpad
from memory.workflows.services import close_workflow
from tests.memory.pads import new_workflow, pad_of

pytestmark = pytest.mark.usefixtures("index_is_kept")

SOURCE = "發現 3 個主要問題:\n1. UserService 效能瓶頸...\n2. 記憶體洩漏..."


def find(caller: Caller, query: str, **filters: Any) -> list[dict[str, Any]]:
    return search_scratchpads(caller.project_id, query, **filters).objects()


def found(caller: Caller, query: str, **filters: Any) -> list[int]:
    return [row["scratchpad_id"] for row in find(caller, query, **filters)]


def test_a_hit_names_the_pad_and_marks_the_match(ada: Caller) -> None:
    workflow = new_workflow(ada)
    pad = pad_of(ada, SOURCE, workflow=workflow)
    [row] = find(ada, "快取 效能")
    assert (row["scratchpad_id"], row["name"], row["workflow_id"]) == (pad, "code_analysis", workflow)
    assert "UserService «效能»瓶頸" in row["snippet"]


@pytest.mark.parametrize(
    "query", ["效能瓶頸", "user service", "洩漏", "UserService", "code analysis", "userservise"]
)
def test_words_names_and_misspellings_find_a_pad(ada: Caller, query: str) -> None:
    pad = pad_of(ada, SOURCE)
    pad_of(ada, "something else", name="other")
    assert found(ada, query) == [pad]


def test_replaced_text_does_not_find_a_pad(ada: Caller) -> None:
    pads = [pad_of(ada, "kept"), pad_of(ada, "rabbitmq")]
    for text in ("nats", "kafka"):
        update_scratchpad(caller=ada, scratchpad_id=pads[1], content=text)
    assert found(ada, "rabbitmq") == found(ada, "nats") == []
    assert found(ada, "kafka") == [pads[1]]


def test_the_best_comes_first(ada: Caller) -> None:
    weak = pad_of(ada, "cache and nothing else that matters to anybody here")
    best = pad_of(ada, "cache invalidation")
    assert found(ada, "cache invalidation") == [best, weak]


def test_a_search_is_narrowed_to_a_workflow(ada: Caller) -> None:
    first, second = new_workflow(ada), new_workflow(ada)
    pads = [pad_of(ada, "eagle", workflow=workflow) for workflow in (first, second)]
    assert found(ada, "eagle", workflow_id=first) == pads[:1]
    assert sorted(found(ada, "eagle")) == pads


def test_a_snippet_can_be_left_out(ada: Caller) -> None:
    pad = pad_of(ada, "eagle\neagle")
    for pad_id in (None, pad):
        listing = search_scratchpads(ada.project_id, "eagle", include_content=False, scratchpad_id=pad_id)
        assert [row["snippet"] for row in listing.objects()] in ([None], [None, None])


def test_the_limit_bounds_the_rows_and_not_the_total(ada: Caller) -> None:
    workflow = new_workflow(ada)
    for _ in range(5):
        pad_of(ada, "eagle", workflow=workflow)
    listing = search_scratchpads(ada.project_id, "eagle", limit=2)
    assert (len(listing.rows), listing.extra["total"]) == (2, 5)


def test_edits_and_deletions_update_the_index(ada: Caller) -> None:
    pad = pad_of(ada, "alpha")
    append_to_scratchpad(caller=ada, scratchpad_id=pad, content="beta")
    assert found(ada, "beta") == [pad]
    update_scratchpad(caller=ada, scratchpad_id=pad, content="gamma")
    assert found(ada, "beta") == []
    delete_scratchpad(caller=ada, scratchpad_id=pad)
    assert found(ada, "gamma") == []


def test_a_word_far_down_is_found_with_the_text_around_it(ada: Caller) -> None:
    pad_of(ada, "filler words here\n" * 5_000 + "the needle is here\n" + "more filler\n" * 5_000)
    [row] = find(ada, "needle")
    assert "the «needle» is here" in row["snippet"]


def test_the_pads_of_a_closed_workflow_are_found(ada: Caller) -> None:
    workflow = new_workflow(ada)
    pad = pad_of(ada, "eagle", workflow=workflow)
    close_workflow(caller=ada, workflow_id=workflow)
    assert found(ada, "eagle") == [pad]


def test_a_mistyped_word_is_corrected_and_reported(ada: Caller) -> None:
    pad_of(ada, "invalidation of caches")
    for pad in (None, pad_of(ada, "the invalidation")):
        listing = search_scratchpads(ada.project_id, "invalidatoin", scratchpad_id=pad)
        assert listing.rows
        assert listing.extra["did_you_mean"] == "invalidation"


# -- In one pad ------------------------------------------------------------------------------------

PAD = "# Findings\nslow query\n\nnothing here\nThe query is slow, the query waits.\nslow\nfast"


def matching_lines(caller: Caller, query: str, **filters: Any) -> list[tuple[int, str]]:
    return [(row["line"], row["snippet"]) for row in find(caller, query, **filters)]


def test_each_match_has_its_line_number(ada: Caller) -> None:
    pad = pad_of(ada, PAD)
    pad_of(ada, "slow query")
    rows = matching_lines(ada, "waits", scratchpad_id=pad)
    assert rows == [(5, "The query is slow, the query «waits».")]


def test_lines_that_match_best_come_first(ada: Caller) -> None:
    pad = pad_of(ada, PAD)
    lines = [line for line, _ in matching_lines(ada, "slow query", scratchpad_id=pad)]
    assert lines == [2, 5, 6]


def test_matches_are_counted_beyond_the_limit(ada: Caller) -> None:
    pad = pad_of(ada, "\n".join(f"eagle {n}" for n in range(1, 1_501)))
    listing = search_scratchpads(ada.project_id, "eagle", scratchpad_id=pad, limit=3)
    assert [row["line"] for row in listing.objects()] == [1, 2, 3]
    assert listing.extra == {"total": 1_000, "more": True}


def test_a_line_with_an_excluded_word_is_left_out(ada: Caller) -> None:
    pad = pad_of(ada, PAD)
    assert [line for line, _ in matching_lines(ada, "query -waits", scratchpad_id=pad)] == [2]


def test_a_very_long_line_is_cut_around_the_match(ada: Caller) -> None:
    pad = pad_of(ada, "filler " * 10_000 + "needle" + " filler" * 10_000)
    [(line, snippet)] = matching_lines(ada, "needle", scratchpad_id=pad)
    assert line == 1
    assert "«needle»" in snippet
    assert len(snippet) < 1_500


def test_a_pad_of_another_workflow_is_not_searched(ada: Caller) -> None:
    first, second = new_workflow(ada), new_workflow(ada)
    pad = pad_of(ada, "eagle", workflow=first)
    assert found(ada, "eagle", scratchpad_id=pad, workflow_id=first) == [pad]
    assert found(ada, "eagle", scratchpad_id=pad, workflow_id=second) == []


# -- Empty results and invalid queries -------------------------------------------------------------


@pytest.mark.parametrize("filter_name", ["workflow_id", "scratchpad_id"])
@pytest.mark.parametrize("row_id", [0, -1, 999_999, 2**63, 10**40])
def test_an_unknown_workflow_or_pad_has_no_hits(ada: Caller, filter_name: str, row_id: int) -> None:
    pad_of(ada, "eagle")
    listing = search_scratchpads(ada.project_id, "eagle", **{filter_name: row_id})  # type: ignore[arg-type]
    assert (listing.rows, listing.extra["total"]) == ([], 0)


@pytest.mark.parametrize("query", ["", "  ", "\x00", "x" * 70_000])
def test_an_invalid_query_is_refused(ada: Caller, query: str) -> None:
    for filters in ({}, {"scratchpad_id": pad_of(ada, "x")}):
        with pytest.raises(InvalidInput):
            find(ada, query, **filters)


@pytest.mark.parametrize(
    "query", ['"', "*", "AND OR", "F1", "-", 'a" OR words:b', "the", "🙂", "KSCRATCHPAD"]
)
def test_a_query_is_never_parsed_as_syntax(ada: Caller, query: str) -> None:
    pad = pad_of(ada, "eagle")
    for filters in ({}, {"scratchpad_id": pad}):
        assert found(ada, query, **filters) == []


@pytest.mark.parametrize("limit", [0, -1, 201, 10**30])
def test_an_invalid_limit_is_refused(ada: Caller, limit: int) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        find(ada, "eagle", limit=limit)


def test_another_projects_pads_are_not_found(ada: Caller, cy: Caller) -> None:
    workflow = new_workflow(ada)
    pad = pad_of(ada, "moonshot", workflow=workflow)
    for filters in ({}, {"workflow_id": workflow}, {"scratchpad_id": pad}):
        assert found(cy, "moonshot", **filters) == []


def test_whole_words_are_marked(ada: Caller) -> None:
    assert marked("Caches cached; a cache", Wanted({"cach": 1.0})) == "«Caches» «cached»; a «cache»"
    assert marked("效能瓶頸", Wanted({"效能": 1.0, "能瓶": 1.0, "瓶頸": 1.0})) == "«效能瓶頸»"
    assert marked("nothing", Wanted({})) == "nothing"
