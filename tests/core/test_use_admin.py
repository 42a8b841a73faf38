"""The page of use and cost: its figures are those of the API, and its statements do not grow with the use."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.dateparse import parse_datetime

from ctxhub.console.graphs.stacked_chart import Series, StackedChart, stacked_chart
from ctxhub.core.accounts.config import set_config
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from ctxhub.core.use.queries import list_use
from ctxhub.core.use.tally import EMPTY_SEARCHES, WRITER, Call, found_nothing
from ctxhub.toolbox.dispatch import call
from memory.decisions.services import deprecate_decision, set_decision
from memory.memories.services import add_memory
from memory.models import Decision
from memory.statistics.trends import list_trends
from tests.hub import RestClient
from tests.marks import unmarked
from tests.people import VIEWER, member

pytestmark = pytest.mark.django_db

URL = "/admin/core/tokenuse/cost/"
NOON = datetime(2026, 11, 24, 12, 30, tzinfo=UTC)


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, VIEWER, username="vi")


def use(
    project: Project,
    agent: str,
    operation: str,
    tokens: int,
    *,
    behind: int = 0,
    ago: timedelta = timedelta(),
) -> None:
    with time_machine.travel(NOON - ago, tick=False):
        made = Call(Caller(project, agent), operation, writes=operation == "decision.set")
        made.behind = [behind] if behind else None
        made.answered(tokens)


def page(client: Client, **query: str) -> Any:
    WRITER.flush()
    with time_machine.travel(NOON, tick=False):
        response = client.get(URL, query)
    assert response.status_code == 200
    return response


def table(html: str, label: str) -> dict[str, list[int]]:
    """The rows of a table by their first column."""
    part = html[html.index(f'id="{label}"') :]
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', part[: part.index("</table>")], re.DOTALL)
    return {
        re.sub(r"<.*?>", "", name): [
            int(cell.replace(",", "")) for cell in re.findall(r"<td>([\d,]+)", cells)
        ]
        for name, cells in rows
    }


def test_its_figures_are_those_of_the_api(apollo: Project, client: Client) -> None:
    call(Caller(apollo, "ada"), "decision", {"action": "set", "key": "k", "value": "v"})  # Registers ada.
    use(apollo, "ada", "decision.set", 40)
    use(apollo, "ada", "search", 500, behind=2_500, ago=timedelta(days=2))
    use(apollo, "ben", "search", 700, ago=timedelta(days=3))
    use(apollo, "ben", "search", 9_999, ago=timedelta(days=8))
    html = page(client).content.decode()
    with time_machine.travel(NOON, tick=False):
        listed = list_use(apollo.pk, since="7d", by=["agent"]).objects()
        by_operation = list_use(apollo.pk, since="7d", by=["operation"]).objects()
    # Tokens, saved, reads, writes, errors.
    agents = table(html, "by-agent")
    assert agents == {"ada": [540, 2_000, 1, 1, 0], "ben": [700, 0, 1, 0, 0]}
    for name, (tokens, saved, *_) in agents.items():
        rows = [row for row in listed if row["agent"] == name]
        assert tokens == sum(row["tokens"] for row in rows)
        assert saved == sum(row["whole_tokens"] - row["tokens"] for row in rows)
    assert table(html, "by-operation")["search"][0] == sum(
        row["tokens"] for row in by_operation if row["operation"] == "search"
    )
    assert table(html, "expensive")["search"] == [700, 600, 2]
    assert "<strong>1,240</strong> tokens answered" in html
    assert "cost 2.6 times as much" in html
    assert html.count('href="#how-saved"') == 3
    assert html.count('id="how-saved"><summary>How this is computed</summary>') == 1
    assert re.search(r'href="/admin/core/agent/\d+/change/">ada</a>', unmarked(html))
    assert ">ben</th>" in html  # Counting registers nobody.


def test_the_chart_has_each_day_and_names_the_tools(apollo: Project, client: Client) -> None:
    use(apollo, "ada", "search", 500, ago=timedelta(days=2))
    use(apollo, "ada", "decision.get", 100)
    chart = page(client).context["chart"]
    assert [(area.name, area.total) for area in chart.series] == [("search", 500), ("decision", 100)]
    assert [column.title for column in chart.columns][-3:] == [
        "22 Nov: 500 tokens",
        "23 Nov: 0 tokens",
        "24 Nov so far: 100 tokens",
    ]
    assert chart.columns[0].title == "17 Nov from 12:00: 0 tokens"
    assert chart.partial == ["17 Nov from 12:00", "24 Nov so far"]
    assert (chart.series[0].partial_path, chart.series[1].path) == ("", "")
    assert chart.series[1].partial_path.startswith("M")
    assert len(chart.columns) == 8
    hours = page(client, last="24h").context["chart"]
    assert len(hours.columns) == 25
    rows = page(client).context["chart"].rows
    assert [(row.name, row.values, row.total) for row in rows if row.total] == [
        ("22 Nov", [500, 0], 500),
        ("24 Nov so far", [0, 100], 100),
    ]
    assert hours.columns[-1].title == "12:00 so far: 100 tokens"


def day_of(at: str, zone: ZoneInfo) -> str:
    moment = parse_datetime(at)
    assert moment
    return f"{moment.astimezone(zone):%d %b}"


def heights(chart: StackedChart) -> list[int]:
    """The values of the bars as they are drawn, one series over the other, from left to right."""
    top = max(row.total for row in chart.rows) / (chart.bottom - min(_heads(chart)))
    drawn: dict[float, float] = {}
    for one in chart.series:
        for x, foot, head in re.findall(r"M([\d.]+) ([\d.]+)V([\d.]+)h", one.path + one.partial_path):
            drawn[float(x)] = drawn.get(float(x), 0) + float(foot) - float(head)
    return [round(top * height) for _, height in sorted(drawn.items())]


def _heads(chart: StackedChart) -> list[float]:
    paths = "".join(one.path + one.partial_path for one in chart.series)
    return [float(head) for head in re.findall(r"V([\d.]+)h", paths)]


def test_the_bars_are_the_days_of_the_api_in_the_time_zone_of_the_project(
    apollo: Project, ada: Caller, client: Client, ada_rest: RestClient
) -> None:
    set_config(caller=ada, values={"time_zone": "Asia/Kathmandu"})
    for hours in (1, 5, 9, 30, 31, 55, 100):
        use(apollo, "ada", "search", 100 * hours, ago=timedelta(hours=hours))
        use(apollo, "ada", "decision.get", 1_000, ago=timedelta(hours=hours))
    chart = page(client).context["chart"]
    with time_machine.travel(NOON, tick=False):
        listed = ada_rest.get("use/", since="7d", bucket="day").body["items"]
    zone = ZoneInfo("Asia/Kathmandu")
    days = {day_of(item["at"], zone): item["tokens"] for item in listed}
    assert {row.name[:6]: row.total for row in chart.rows if row.total} == days
    assert len(days) == 4
    # A pixel is some tokens.
    assert heights(chart) == pytest.approx(list(days.values())[::-1], abs=30)


def test_a_period_of_the_past_says_of_which_part_of_a_day_it_is(apollo: Project, client: Client) -> None:
    use(apollo, "ada", "search", 500, ago=timedelta(days=2))
    chart = page(client, **{"from": "2026-11-20T00:00", "to": "2026-11-23T09:30"}).context["chart"]
    assert chart.partial == ["23 Nov until 10:00"]
    whole = page(client, **{"from": "2026-11-20T00:00", "to": "2026-11-23T00:00"}).context["chart"]
    assert whole.partial == []


def test_what_is_unknown_and_what_nobody_was_given(ada: Caller, client: Client) -> None:
    with time_machine.travel(NOON - timedelta(days=9), tick=False):
        call(ada, "decision", {"action": "set", "key": "old/<b>", "value": "v"})
        call(ada, "decision", {"action": "set", "key": "gone", "value": "v"})
        call(ada, "decision", {"action": "deprecate", "key": "gone"})
    with time_machine.travel(NOON - timedelta(minutes=1), tick=False), Call(ada, "search"):
        call(ada, "decision", {"action": "set", "key": "new", "value": "v"})
        found_nothing("Where are <i>invoices</i>?")
        EMPTY_SEARCHES.flush()
    html = page(client).content.decode()
    assert "Where are &lt;i&gt;invoices&lt;/i&gt;?" in html
    unread = html[html.index("Decisions nobody was given") :]
    unread = unread[: unread.index("</section>")]
    assert "old/&lt;b&gt;" in unread
    assert "gone" not in unread
    assert "new" not in unread


def test_keys_that_change_most_are_counted_as_the_trends_count(ada: Caller, client: Client) -> None:
    def decide(key: str, value: str, **ago: int) -> None:
        with time_machine.travel(NOON - timedelta(**ago), tick=False):
            set_decision(caller=ada, key=key, value=value)

    for key, changes in (("api/auth", (20, 6, 5, 1)), ("api/<b>", (20, 3)), ("new", (2,)), ("old", (20, 9))):
        for days in changes:
            decide(key, f"{days} days ago", days=days)
    decide("again", "one", hours=3)
    decide("again", "two", hours=2)
    with time_machine.travel(NOON - timedelta(hours=1), tick=False):
        deprecate_decision(caller=ada, key="api/<b>")
    with time_machine.travel(NOON, tick=False):
        trends = list_trends(ada.project_id, since="7d").objects()
    html = page(client).content.decode()
    changed = {one.name: one.changes for one in page(client).context["changed"]}
    assert changed == {"api/auth": 3, "api/<b>": 2, "again": 1}
    assert next(iter(changed)) == "api/auth"
    assert sum(changed.values()) == sum(row["changed"] + row["deprecated"] for row in trends)
    assert "api/&lt;b&gt;</a></th><td>2</td>" in html
    earlier = (NOON - timedelta(days=10)).isoformat(), (NOON - timedelta(days=5, hours=12)).isoformat()
    of_old = page(client, **dict(zip(("from", "to"), earlier, strict=True))).context["changed"]
    assert {one.name: one.changes for one in of_old} == {"old": 1, "api/auth": 1}


def test_keys_of_other_projects_are_not_shown(ada: Caller, cy: Caller, client: Client) -> None:
    for value in ("a", "b"):
        set_decision(caller=cy, key="secret", value=value)
    with time_machine.travel(NOON, tick=False):
        add_memory(caller=cy, title="Moonshot", content="x" * 900)
    shown = page(client).context
    assert (shown["changed"], shown["largest"], shown["stored_bytes"]) == ([], [], 0)


def test_rows_are_those_of_the_stats_and_bytes_those_of_the_texts(ada: Caller, client: Client) -> None:
    set_decision(caller=ada, key="k", value="日本", rationale="why")
    set_decision(caller=ada, key="k", value="日", rationale="why")
    memory = add_memory(caller=ada, title="note", content="ü" * 500)["id"]
    shown = page(client).context
    stored = {kind.title: kind for kind in shown["stored"]}
    stats = call(ada, "hub", {"action": "stats"})
    assert stored["decisions"].rows == stats["decisions"][1]
    assert stored["memories"].rows == stats["memories"]
    assert stored["events"].rows == Event.objects.in_project(ada.project_id).count()
    row = Decision.objects.in_project(ada.project_id).get()
    jsons = (row.paths, row.alternatives, row.tradeoffs, row.metadata)
    texts = "日why" + "".join(json.dumps(each) for each in jsons)
    assert stored["decisions"].bytes == len(texts.encode())
    assert stored["earlier decisions"].bytes >= len("日本".encode())
    assert shown["stored_bytes"] == sum(kind.bytes for kind in stored.values())
    largest = shown["largest"][0]
    assert (largest.name, largest.url) == (f"memory:{memory}", f"/admin/memory/memory/{memory}/")


def test_an_empty_hub_says_what_will_be_here(client: Client) -> None:
    html = page(client).content.decode()
    assert "No calls in this period." in html
    assert "No decision got a new version in this period." in html
    assert html.count("Nothing is stored yet.") == 2
    assert re.search(r"costs about \d,\d{3} tokens", html)


def test_the_statements_do_not_grow(apollo: Project, client: Client) -> None:
    def statements() -> list[str]:
        with CaptureQueriesContext(connection) as queries:
            page(client)
        return [query["sql"][:90] for query in queries]

    use(apollo, "ada", "search", 500)
    page(client)
    few = statements()
    for number in range(40):
        use(apollo, f"agent-{number}", f"tool{number}.do", 10, ago=timedelta(hours=number))
    WRITER.flush()
    many = statements()
    assert many == few
    assert len(few) <= 25


def test_strangers_see_nothing(hermes: Project, apollo: Project) -> None:
    use(apollo, "ada", "search", 500)
    stranger = member(hermes, VIEWER, username="sam")
    html = page(stranger, project="apollo").content.decode()
    assert "ada" not in html
    assert b"ada" not in stranger.get("/admin/core/tokenuse/").content


def test_a_chart_of_one_column_and_of_nothing() -> None:
    one = stacked_chart(["now"], [Series("a", [5]), Series("b", [15])], "tokens")
    assert [area.total for area in one.series] == [5, 15]
    assert one.columns[0].title == "now: 20 tokens (a 5, b 15)"
    assert [level.text for level in one.levels] == ["0", "5", "10", "15", "20"]
    nothing = stacked_chart(["a", "b"], [Series("a", [0, 0])], "tokens")
    assert [level.text for level in nothing.levels] == ["0", "1"]
    large = stacked_chart(["a"], [Series("a", [2_400_000])], "tokens")
    assert large.levels[-1].text == "3 M"
