"""Arabic words are found with and without the article, whichever way they are asked for."""

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.search.stems import with_and_without_article
from tests.hub import McpClient, RestClient
from tests.searching import decide, refs

TITLES = {
    "db": "القاعدة تعمل على الخادم الجديد",
    "plain": "قاعدة البيانات في مجلد واحد",
    "by": "نكتفي بالقاعدة القديمة",
    "for": "ننسخ كل شيء للقاعدة",
    "other": "المستخدم يسجل الدخول",
}


@pytest.fixture
def written(ada: Caller) -> Caller:
    for key, value in TITLES.items():
        decide(ada, key, value)
    return ada


@pytest.mark.parametrize("query", ["قاعدة", "القاعدة", "والقاعدة", "للقاعدة"])
def test_a_word_is_found_with_and_without_the_article(written: Caller, query: str) -> None:
    assert set(refs(written, query)) == {f"decision:{key}" for key in ("db", "plain", "by", "for")}


@pytest.mark.parametrize("query", ["مستخدم", "المستخدم"])
def test_all_words_of_a_query_match_in_any_form(written: Caller, query: str) -> None:
    assert refs(written, f"{query} دخول", match="all") == ["decision:other"]


def test_an_excluded_word_is_excluded_in_all_forms(written: Caller) -> None:
    assert set(refs(written, "قاعدة -خادم -بيانات")) == {"decision:by", "decision:for"}


def test_a_list_is_filtered_by_both_forms(ada_mcp: McpClient, ada_rest: RestClient, written: Caller) -> None:
    assert {row["key"] for row in ada_mcp.rows("decision", "list", text="الخادم")} == {"db"}
    assert {row["key"] for row in ada_rest.get("decisions/", text="خادم").body["items"]} == {"db"}


def test_the_excerpt_shows_the_other_form(ada_mcp: McpClient) -> None:
    workflow = ada_mcp.call("scratchpad", "create_workflow")["workflow_id"]
    ada_mcp.call("scratchpad", "create", workflow_id=workflow, name="n", content=TITLES["db"])
    [row] = ada_mcp.rows("scratchpad", "search", query="قاعدة")
    assert "«القاعدة»" in row["snippet"]


@pytest.mark.parametrize("word", ["cache", "快取", "кэш", "ال", "الى", "و"])
def test_other_words_have_one_form(word: str) -> None:
    assert with_and_without_article(word) == (word,)


def test_a_word_that_begins_like_an_article_keeps_its_letters() -> None:
    assert with_and_without_article("والد")[:2] == ("والد", "الوالد")
