"""REST and MCP over HTTP count calls under the same names, and REST lists the counts."""

from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from ctxhub.core.use import tally
from ctxhub.core.use.tally import EMPTY_SEARCHES, WRITER
from tests.hub import LiveHub, McpClient, RestClient

pytestmark = pytest.mark.django_db


def use(rest: RestClient, **query: Any) -> Any:
    """What `use/` lists; that request is counted nowhere."""
    WRITER.flush()
    body = rest.get("use/", **query).body
    WRITER.discard()
    tally._adding_up.clear()
    return body


def counts(rest: RestClient, **query: Any) -> dict[str, tuple[int, int]]:
    return {
        row["operation"]: (row["calls"], row["errors"]) for row in use(rest, by="operation", **query)["items"]
    }


def test_rest_and_mcp_count_under_the_same_names(ada_rest: RestClient, ada_mcp: McpClient) -> None:
    ada_rest.post("decisions/", {"key": "api/auth", "value": "JWT"})
    ada_rest.get("decisions/api/auth/")
    assert ada_rest.get("decisions/none/").status == 404
    ada_rest.post("call/decision/list/", {})
    ada_rest.get("refusals/")
    ada_mcp.call("decision", action="list")
    assert counts(ada_rest) == {
        "decision.set": (1, 0),
        "decision.get": (2, 1),
        "decision.list": (2, 0),
        "GET refusals/": (1, 0),
    }


def test_a_page_for_a_browser_has_no_tokens(ada_rest: RestClient) -> None:
    assert ada_rest.get("decisions/", format="api").status == 200
    [row] = use(ada_rest, by="operation")["items"]
    assert (row["operation"], row["calls"], row["tokens"]) == ("decision.list", 1, 0)


def test_every_filter_and_page(ada_rest: RestClient, ben_rest: RestClient) -> None:
    for _ in range(3):
        ada_rest.get("stats/")
    ada_rest.get("decisions/")
    ben_rest.get("decisions/")
    ben_rest.get("tags/")
    assert counts(ada_rest) == {"GET stats/": (3, 0), "decision.list": (2, 0), "GET tags/": (1, 0)}
    assert counts(ada_rest, of="BEN") == {"decision.list": (1, 0), "GET tags/": (1, 0)}
    assert counts(ada_rest, tool="decision") == {"decision.list": (2, 0)}
    assert counts(ada_rest, tool="dec") == {}
    assert counts(ada_rest, until="1h") == {}
    assert [row["calls"] for row in use(ada_rest, bucket="month")["items"]] == [6]
    by_both = use(ada_rest, by="agent,operation", bucket="hour")["items"]
    assert {(row["agent"], row["operation"], row["calls"]) for row in by_both} == {
        ("ada", "decision.list", 1),
        ("ada", "GET stats/", 3),
        ("ben", "GET tags/", 1),
        ("ben", "decision.list", 1),
    }
    first = use(ada_rest, by="operation", limit=2)
    following = ada_rest.get("use/", by="operation", limit=2, cursor=first["next"]).body
    assert (len(first["items"]), first["total"], len(following["items"]), following["next"]) == (
        2,
        3,
        1,
        None,
    )


@pytest.mark.parametrize(
    "query",
    [{"bucket": "year"}, {"by": "colour"}, {"since": "soon"}, {"since": "1h", "until": "2h"}, {"x": "1"}],
)
def test_bad_queries_are_told(ada_rest: RestClient, query: dict[str, str]) -> None:
    refused = ada_rest.get("use/", **query)
    assert (refused.status, refused.body["error"]) == (400, "invalid")


def test_questions_that_found_nothing_are_listed(ada_rest: RestClient, cy_rest: RestClient) -> None:
    ada_rest.get("search/", query="where are invoices kept?")
    EMPTY_SEARCHES.flush()
    [item] = ada_rest.get("use/empty_searches/").body["items"]
    assert (item["query"], item["count"], item["agent"]) == ("where are invoices kept?", 1, "ada")
    assert ada_rest.get("use/empty_searches/", since="2099-01-01").body["items"] == []
    assert cy_rest.get("use/empty_searches/").body["items"] == []
    assert cy_rest.get("/api/v1/projects/apollo/use/").status == 404


def test_readers_alone_may_see_use(hub: LiveHub, apollo: Project) -> None:
    writer = create_token(project=apollo, name="w", agent="w", scopes=["write"]).secret
    assert hub.rest(writer).get("use/").status == 403
