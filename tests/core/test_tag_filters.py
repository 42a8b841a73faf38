"""Filters by tags find the tags below one, and take globs: on every list, in the search, in the admin."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit import pages
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.models import Project, Tag
from ctxhub.core.vocabulary.names import find_tag_ids, find_vocabulary
from ctxhub.core.vocabulary.tag_filters import MOST_GLOBS, read_tag_filters
from ctxhub.toolbox.dispatch import call
from memory.decisions.services import set_decision_batch
from tests.databases import take_statistics
from tests.hub import McpClient, RestClient
from tests.people import member
from tests.query_plans import explained

pytestmark = [pytest.mark.django_db, pytest.mark.every_engine]

TAGS = ("security", "security/tls", "security/tls/ciphers", "securityx", "api", "api/v1", "auth", "a[1]")
BELOW_SECURITY = {"security", "security/tls", "security/tls/ciphers"}
FOUND: list[tuple[Any, set[str]]] = [
    ("security", BELOW_SECURITY),
    ("SECURITY/TLS", {"security/tls", "security/tls/ciphers"}),
    ("sec*", {*BELOW_SECURITY, "securityx"}),
    ("secu??ty", BELOW_SECURITY),
    ("security/*", {"security/tls", "security/tls/ciphers"}),
    ("security/**", BELOW_SECURITY),
    ("*/ciphers", set()),
    ("**/ciphers", {"security/tls/ciphers"}),
    ("{api,auth}", {"api", "api/v1", "auth"}),
    ("{api,security}/{v1,tls}", {"api/v1", "security/tls", "security/tls/ciphers"}),
    ("auth, {api,none}", {"api", "api/v1", "auth"}),
    (["{api,auth}", "security/tls/*"], {"api", "api/v1", "auth", "security/tls/ciphers"}),
    ('["api/*", "auth"]', {"api/v1", "auth"}),
    ("a[1]", {"a[1]"}),
    ("a[1-3]", set()),
    ("a[[]1]", set()),
    ("secur", set()),
    ("*", set(TAGS)),
]
LISTS = {
    "decision": "decisions/",
    "constraint": "constraints/",
    "memory": "memories/",
    "snapshot": "snapshots/",
}


def write(caller: Caller, *tags: str) -> None:
    """One thing of each kind, whose text is its tags."""
    text = " ".join(tags) or "untagged"
    call(caller, "decision", {"action": "set", "key": text, "value": "word", "tags": [*tags]})
    rule = {"action": "add", "category": "c", "text": text, "reason": "word", "tags": [*tags]}
    call(caller, "constraint", rule)
    call(caller, "memory", {"action": "add", "title": text, "content": "word", "tags": [*tags]})
    call(caller, "snapshot", {"action": "save", "content": "word", "summary": text, "tags": [*tags]})


@pytest.fixture
def rows(ada: Caller) -> None:
    for tag in TAGS:
        write(ada, tag)
    write(ada)


def tags_in(items: list[dict[str, Any]]) -> set[str]:
    return {tag for item in items for tag in item.get("tags") or ()}


def listed(face: McpClient, tool: str, **query: Any) -> set[str]:
    return tags_in(face.rows(tool, "list", limit=100, **query))


def test_every_list_finds_the_same(rows: None, ada_mcp: McpClient, ada_rest: RestClient) -> None:
    for filter_, expected in FOUND:
        for tool, path in LISTS.items():
            assert listed(ada_mcp, tool, tags=filter_) == expected, (tool, filter_)
            items = ada_rest.get(path, tags=filter_, limit=100).body["items"]
            assert tags_in(items) == expected, (path, filter_)


def test_searches_find_the_same(rows: None, ada_mcp: McpClient, ada_rest: RestClient) -> None:
    for filter_, expected in FOUND:
        kinds = {"kinds": ["decision"], "limit": 50}
        found = ada_mcp.rows("search", query="word", tags=filter_, **kinds)
        assert {row["title"] for row in found} == expected, filter_
        posted = ada_rest.post("search/", {"query": "word", "tags": filter_, **kinds}).body["items"]
        assert {row["title"] for row in posted} == expected, filter_
        memories = ada_mcp.rows("memory", "search", query="word", tags=filter_, limit=50)
        assert {row["title"] for row in memories} == expected, filter_


def test_the_text_of_a_list_holds_beside_it(rows: None, ada_mcp: McpClient) -> None:
    assert listed(ada_mcp, "decision", tags="security", text="word") == BELOW_SECURITY
    assert listed(ada_mcp, "decision", tags="security", text="ciphers") == {"security/tls/ciphers"}
    assert listed(ada_mcp, "snapshot", tags="security", text="word") == BELOW_SECURITY


@pytest.mark.parametrize("tool", ["decision", "constraint"])
def test_all_means_one_of_each_entry(rows: None, ada: Caller, ada_mcp: McpClient, tool: str) -> None:
    write(ada, "security/tls", "api/v1")
    both = {"security/tls", "api/v1"}
    assert listed(ada_mcp, tool, tags=["security", "api"], match="all") == both
    assert listed(ada_mcp, tool, tags=["sec*", "api/*"], match="all") == both
    assert listed(ada_mcp, tool, tags=["{api,auth}", "security"], match="all") == both
    assert listed(ada_mcp, tool, tags=["security", "auth"], match="all") == set()
    assert listed(ada_mcp, tool, tags=["security", "none*"], match="all") == set()
    if tool == "decision":
        assert listed(ada_mcp, tool, tags=["security", "api"], match="all", text="word") == both


def test_excluded_tags_exclude_those_below(rows: None, ada_mcp: McpClient) -> None:
    assert listed(ada_mcp, "decision", exclude_tags="security") == {*TAGS} - BELOW_SECURITY
    assert listed(ada_mcp, "decision", exclude_tags=["sec*", "{api,auth}"]) == {"a[1]"}
    assert ada_mcp.call("decision", "list", exclude_tags="*")["total"] == 1
    assert ada_mcp.call("decision", "list", exclude_tags="none*")["total"] == len(TAGS) + 1


@pytest.mark.parametrize("tool", LISTS)
def test_pages_follow_one_another_with_the_total(rows: None, ada: Caller, tool: str) -> None:
    query = {"action": "list", "tags": "security", "limit": 2}
    first = call(ada, tool, query)
    second = call(ada, tool, {**query, "cursor": first["next"]})
    assert (first["total"], first["count"], second["count"], "next" in second) == (3, 2, 1, False)


@pytest.mark.parametrize("tool", LISTS)
@pytest.mark.parametrize("few", [pages.FEW_LINKED, 3])
def test_many_tags_below_one_are_paged_alike(
    ada: Caller, tool: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More tags than a list reads one by one; their rows by id if they are few, else along the list."""
    monkeypatch.setattr(pages, "FEW_LINKED", few)
    for n in range(pages.MOST_BRANCHES + 2):
        write(ada, f"a/{n}", "b")
    write(ada, "c")
    query = {"action": "list", "tags": "a", "limit": 5, "format": "objects"}
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = call(ada, tool, {**query, **cursor})
        assert page["total"] == pages.MOST_BRANCHES + 2
        found += page["items"]
        if "next" not in page:
            break
        cursor = {"cursor": page["next"]}
    assert len(found) == pages.MOST_BRANCHES + 2
    assert tags_in(found) == {"b", *(f"a/{n}" for n in range(pages.MOST_BRANCHES + 2))}


@pytest.mark.parametrize("tool", ["decision", "constraint"])
def test_all_of_many_tags_below_one_and_another(ada: Caller, tool: str) -> None:
    for n in range(pages.MOST_BRANCHES + 2):
        write(ada, f"a/{n}", "b" if n % 2 else "c")
    answer = call(ada, tool, {"action": "list", "tags": ["a", "b"], "match": "all"})
    assert answer["total"] == (pages.MOST_BRANCHES + 2) // 2


@pytest.mark.parametrize(
    ("filter_", "hint"),
    [
        ("secuirty/*", "No tag matches 'secuirty/*'; did you mean 'security'?"),
        ("zz*", "No tag matches 'zz*'."),
        ("{zz,secuirty}", "No tag matches '{zz,secuirty}'; did you mean 'security'?"),
        ("secuirty", "There is no tag 'secuirty'; did you mean 'security'?"),
        ("securityx/tls", "There is no tag 'securityx/tls'; did you mean 'security/tls'?"),
    ],
)
def test_what_finds_no_tag_is_told(
    rows: None, ada_mcp: McpClient, ada_rest: RestClient, filter_: str, hint: str
) -> None:
    for tool, path in LISTS.items():
        answer = ada_mcp.call(tool, "list", tags=filter_)
        assert (answer["count"], answer["hint"]) == (0, hint)
        assert ada_rest.get(path, tags=filter_).body["hint"] == hint
    assert ada_mcp.call("search", query="word", tags=filter_)["hint"] == hint


def test_a_parent_that_is_no_tag_itself_is_known(ada: Caller, ada_mcp: McpClient) -> None:
    write(ada, "ops/logs")
    answer = ada_mcp.call("decision", "list", tags="ops", status="draft")
    assert (answer["count"], answer.get("hint")) == (0, None)
    assert listed(ada_mcp, "decision", tags="ops") == {"ops/logs"}


def test_tags_of_another_project_are_not_found(rows: None, cy: Caller) -> None:
    write(cy, "own")
    filters = read_tag_filters(["sec*/*", "own"], "tags")
    assert find_vocabulary(cy.project_id, tag_filters=filters).tags.keys() == {"security", "own"}
    assert call(cy, "decision", {"action": "list", "tags": ["sec*", "own"]})["total"] == 1


@pytest.mark.parametrize(
    ("filter_", "message"),
    [
        ("{" + ",".join(f"a{n}" for n in range(65)) + "}", "stands for more than 64 globs"),
        ([f"{{{n}a,{n}b,{n}c,{n}d,{n}e}}" for n in range(41)], f"the limit is {MOST_GLOBS}"),
        ([f"a{n}" for n in range(51)], "51 entries; the limit is 50"),
        ("{api,}", "must not be blank"),
        ("a" * 101 + "*", "the limit is 100"),
        ("{'api'", "is not written as a list"),
    ],
)
def test_bad_filters_are_refused(
    ada_mcp: McpClient, ada_rest: RestClient, filter_: Any, message: str
) -> None:
    for tool, path in LISTS.items():
        answer = ada_mcp.call(tool, "list", tags=filter_)
        assert answer["error"] == "invalid"
        assert message in answer["message"]
        refused = ada_rest.get(path, tags=filter_)
        assert (refused.status, message in refused.body["message"]) == (400, True)


def test_a_tag_is_written_as_it_is(ada_mcp: McpClient) -> None:
    """Braces and wildcards are globs in filters alone."""
    made = ada_mcp.call("decision", "set", key="a", value=1, tags=["what?", "ops/*"])
    assert made["result"] == "created"
    assert listed(ada_mcp, "decision", tags="what?") == {"what?", "ops/*"}
    refused = ada_mcp.call("decision", "set", key="b", value=1, tags="{api,auth}")
    assert refused["error"] == "invalid"


def test_admin_lists_find_the_same(rows: None, apollo: Project) -> None:
    client: Client = member(apollo, username="vi")

    def shown(kind: str, tag: str) -> set[str]:
        changelist = client.get(f"/admin/memory/{kind}/", {"tag": tag}).context["cl"]
        return {tag.name for row in changelist.result_list for tag in row.tags.all()}

    for kind in LISTS:
        assert shown(kind, "security") == BELOW_SECURITY
        assert shown(kind, "{api,auth}") == {"api", "api/v1", "auth"}
        assert shown(kind, "security/*") == {"security/tls", "security/tls/ciphers"}
        assert shown(kind, "ecuri") == {*BELOW_SECURITY, "securityx"}
        assert shown(kind, "{") == set()


def test_a_plain_tag_takes_no_more_statements(rows: None, ada: Caller) -> None:
    def statements(tags: Any) -> int:
        with CaptureQueriesContext(connection) as captured:
            call(ada, "decision", {"action": "list", "tags": tags})
        return len(captured)

    statements("auth")
    assert statements("auth") == statements("security") == statements(["api/*", "auth"])
    assert statements("*") == statements("auth") + 1  # More tags than are read one by one.


def test_tags_are_read_from_their_index(apollo: Project) -> None:
    Tag.unscoped.bulk_create(Tag(project=apollo, name=f"t{n}/{n}", folded=f"t{n}/{n}") for n in range(3_000))
    take_statistics()
    for filters in (["t7"], ["t7/*", "t8"], ["{t1,t2,t3}"]):
        with CaptureQueriesContext(connection) as captured:
            find_vocabulary(apollo.pk, tag_filters=read_tag_filters(filters, "tags"))
        [statement] = captured
        plan = explained(statement["sql"])
        assert "SCAN core_tag" not in plan
        assert connection.vendor == "postgresql" or "core_tag_1" in plan, plan


def test_a_rare_parent_of_many_tags_walks_no_long_list(ada: Caller) -> None:
    """Twelve rows among many: they are read by id, and not looked for along the list."""
    for first in range(0, 600, 50):
        items: list[Any] = [{"key": f"k/{n}", "value": n, "tags": ["all"]} for n in range(first, first + 50)]
        set_decision_batch(caller=ada, items=items)
    for n in range(12):
        call(ada, "decision", {"action": "set", "key": f"a/{n}", "value": n, "tags": [f"a/{n}"]})
    with CaptureQueriesContext(connection) as captured:
        assert call(ada, "decision", {"action": "list", "tags": "a"})["total"] == 12
    page = next(each["sql"] for each in captured if "JOIN core_layer" in each["sql"])
    assert "json_each" in page or "d.id IN" in page


def test_one_entry_finds_tags_of_several_projects(apollo: Project, ada: Caller, cy: Caller) -> None:
    write(ada, "security/tls")
    write(cy, "security/ssh")
    ids = find_tag_ids([ada.project_id, cy.project_id], "security")
    found = set(Tag.unscoped.filter(pk__in=ids).values_list("name", flat=True))
    assert found == {"security", "security/tls", "security/ssh"}
    with pytest.raises(InvalidInput):
        find_tag_ids([ada.project_id], "{")
