"""Snapshots in the admin: tiers, causes and predictions, overview, pruning."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxhub.console.graphs.line_chart import Line, line_chart
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import now
from ctxhub.core.models import Event, Project
from memory.models import PredictionOutcome, Snapshot
from memory.predictions.services import predict_snapshots
from memory.snapshots.reads import read_snapshot
from tests.memory.snapshots import depend, link, save, write
from tests.people import ADMIN, MEMBER, VIEWER, member, superuser

AWS_KEY = "AKIA" + "Q7LM2XWY4NPR5TVB"

LIST = "/admin/memory/snapshot/"
NASTY = "</title></svg><script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
EXPIRED = timedelta(days=40)
FORM: dict[str, Any] = {"content": "Sessions move to PostgreSQL.", "action_type": "file_edit"}


@pytest.fixture(autouse=True)
def noon() -> Iterator[None]:
    with time_machine.travel(NOON, tick=False):
        yield


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, username="vi")


@pytest.fixture
def row(ada: Caller) -> Snapshot:
    row_id = save(ada, "We keep **sessions** in Redis.", action_type="decision", tags=["caching"])
    return Snapshot.unscoped.get(pk=row_id)


def text_of(client: Client, address: str) -> str:
    page = client.get(address)
    assert page.status_code == 200
    return page.content.decode()


def page_of(row: Snapshot | int, rest: str = "") -> str:
    return f"{LIST}{row if isinstance(row, int) else row.pk}/{rest}"


def expire(caller: Caller, count: int = 3) -> list[int]:
    return write(caller, count, at=now() - EXPIRED)


def said(client: Client, address: str, form: dict[str, Any] | None = None) -> str:
    """The text of the page that a form leads to."""
    return client.post(address, form or {}, follow=True).content.decode()


def count_queries(client: Client, address: str) -> int:
    client.get(address)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    return len(queries)


# -- List ------------------------------------------------------------------------------------------


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("hours", "tier"),
    [(0.9, "active"), (1, "recent"), (24, "archived"), (719, "archived"), (720, "expired")],
)
def test_the_tier_is_true_without_a_write(hours: float, tier: str, apollo: Project, row: Snapshot) -> None:
    with time_machine.travel(NOON + timedelta(hours=hours), tick=False):
        page = member(apollo).get(LIST, {"tier": tier})
        assert page.context["cl"].result_count == 1
        assert tier in page.content.decode()
    row.refresh_from_db()
    assert row.get_tier_display() == "active"


@pytest.mark.every_engine
def test_what_rests_on_a_snapshot_is_listed(client: Client, ada: Caller) -> None:
    one, effect, dependent, _ = write(ada, 4)
    link([effect], [one])
    depend(ada, [(dependent, one), (effect, one)])
    for typed in (f"{one}", f"snapshot:{one}"):
        page = client.get(LIST, {"rests_on": typed})
        assert [found.pk for found in page.context["cl"].result_list] == [dependent, effect]


@pytest.mark.every_engine
@pytest.mark.parametrize("page", ["overview/", "prune/"])
def test_no_page_of_a_project_runs_queries_per_row(page: str, apollo: Project, ada: Caller) -> None:
    client = member(apollo, ADMIN)
    expire(ada, 2)
    few = count_queries(client, LIST + page)
    expire(ada, 6)
    assert count_queries(client, LIST + page) == few


def test_deleting_many_counts_what_rests_on_them_at_once(apollo: Project, ada: Caller) -> None:
    client, ids = member(apollo, ADMIN), write(ada, 30)
    link(ids[1:], [ids[0]] * 29)

    def count(chosen: list[int]) -> int:
        with CaptureQueriesContext(connection) as queries:
            page = client.post(LIST, {"action": "delete_selected", "_selected_action": chosen})
        assert "29 snapshots rest on it and stay." in page.content.decode()
        return len(queries)

    count(ids[:2])
    assert count(ids[:2]) == count(ids)


# -- Page ------------------------------------------------------------------------------------------


def test_opening_a_page_is_no_access(client: Client, row: Snapshot) -> None:
    text_of(client, page_of(row))
    row.refresh_from_db()
    assert (row.access_count, row.last_accessed) == (0, None)


def test_a_page_shows_the_prediction_in_words(client: Client, ada: Caller, row: Snapshot) -> None:
    read_snapshot(caller=ada, snapshot_id=row.pk)
    predict_snapshots(caller=ada)
    text = text_of(client, page_of(row))
    for part in (
        "0.45",
        "it was read less than an hour ago",
        "it is a decision",
        "1 time, last",
        "Next read",
    ):
        assert part in text
    assert 'style="width: 100%"' in text


def test_causes_and_effects_are_links(client: Client, ada: Caller, row: Snapshot) -> None:
    cause, needed = save(ada, "The cause"), save(ada, "Another reason")
    effect = save(ada, "The effect", caused_by=row.pk)
    Snapshot.unscoped.filter(pk=row.pk).update(caused_by=cause)
    depend(ada, [(row.pk, needed)])
    text = text_of(client, page_of(row))
    for other in (cause, needed, effect):
        assert text.count(f'href="{page_of(other)}#causes"') == 3  # Both drawings, and the list.
    assert "ctx-led_to" in text
    assert "ctx-needed_by" in text


def test_many_effects_are_counted_with_a_link_to_all(client: Client, ada: Caller, row: Snapshot) -> None:
    link(write(ada, 30), [row.pk] * 30)
    text = text_of(client, page_of(row))
    assert "22 direct causes or effects are not drawn." in text
    assert f'href="{LIST}?project=apollo&amp;rests_on={row.pk}">10 more</a>' in text


def test_a_session_without_pages_is_named(client: Client, row: Snapshot) -> None:
    Snapshot.unscoped.filter(pk=row.pk).update(session_id=77)
    assert "session:77" in text_of(client, page_of(row))


def test_hostile_text_stays_text(client: Client, ada: Caller) -> None:
    one = save(ada, NASTY, summary=NASTY)
    expire(ada)
    for address in (page_of(one, "?text=raw"), f"{LIST}prune/"):
        assert "<script>alert" not in text_of(client, address)


# -- Adding ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("index_is_kept")
def test_a_person_adds_a_snapshot_with_what_it_rests_on(client: Client, row: Snapshot, ada: Caller) -> None:
    needed = save(ada)
    form = {**FORM, "caused_by": row.ref, "dependencies": f"{needed}, snapshot:{row.pk}"}
    said(client, f"{LIST}add/", form)
    new = Snapshot.unscoped.latest("pk")
    assert (new.caused_by_id, {*new.dependencies.values_list("pk", flat=True)}) == (row.pk, {needed, row.pk})


@pytest.mark.parametrize(("typed", "count"), [("", 2), ("none", 0), ("None", 0)])
def test_blank_dependencies_are_the_last_of_the_person(typed: str, count: int, client: Client) -> None:
    for seconds, dependencies in enumerate(["", "", typed]):
        with time_machine.travel(NOON + timedelta(seconds=seconds), tick=False):
            said(client, f"{LIST}add/", {**FORM, "dependencies": dependencies})
    assert Snapshot.unscoped.latest("pk").dependencies.count() == count


def test_what_is_left_blank_is_found(client: Client, row: Snapshot) -> None:
    said(client, f"{LIST}add/", {"content": "About caching. More.", "action_type": "conversation"})
    new = Snapshot.unscoped.latest("pk")
    assert new.summary.startswith("About caching.")
    assert [tag.name for tag in new.tags.all()] == ["caching"]


def test_a_masked_credential_is_told(client: Client) -> None:
    text = said(client, f"{LIST}add/", {**FORM, "content": f"Key {AWS_KEY} is used."})
    assert "1 credential in the content: masked." in text
    assert AWS_KEY not in Snapshot.unscoped.get().content


def test_a_cause_of_another_project_is_unknown(client: Client, cy: Caller) -> None:
    page = client.post(f"{LIST}add/", {**FORM, "caused_by": str(save(cy))})
    assert "there is no snapshot" in page.content.decode()


def test_what_follows_is_added_from_the_page_of_the_cause(client: Client, row: Snapshot) -> None:
    address = f"{LIST}add/?project=apollo&caused_by={row.pk}"
    assert address.replace("&", "&amp;") in text_of(client, page_of(row))
    form = client.get(address).context["adminform"].form
    assert form["caused_by"].value() == str(row.pk)


# -- Deleting --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("index_is_kept")
def test_an_administrator_deletes_after_being_told_what_rests_on_it(
    apollo: Project, ada: Caller, row: Snapshot
) -> None:
    client, effect = member(apollo, ADMIN), save(ada, caused_by=row.pk)
    assert "1 snapshot rests on it and stays." in text_of(client, page_of(row, "delete/"))
    said(client, page_of(row, "delete/"), {"post": "yes"})
    assert [(one.pk, one.caused_by_id) for one in Snapshot.unscoped.all()] == [(effect, None)]
    assert Event.unscoped.latest("pk").verb == "deleted"


@pytest.mark.parametrize(("role", "may_add"), [(VIEWER, False), (MEMBER, True)])
def test_a_role_decides_who_adds_what_follows(
    role: Any, may_add: bool, apollo: Project, row: Snapshot
) -> None:
    assert ("Add what follows" in text_of(member(apollo, role), page_of(row))) == may_add


# -- Pruning ---------------------------------------------------------------------------------------


def test_a_prune_is_shown_and_then_done(apollo: Project, ada: Caller, row: Snapshot) -> None:
    client, old = member(apollo, ADMIN), expire(ada)
    link([row.pk], [old[0]])
    text = text_of(client, f"{LIST}prune/")
    assert "Delete 2 expired snapshots of apollo?" in text
    assert "1 expired snapshot is kept" in text
    assert Snapshot.unscoped.count() == 4
    assert "2 snapshots deleted." in said(client, f"{LIST}prune/", {"limit": "2"})
    assert {*Snapshot.unscoped.values_list("pk", flat=True)} == {old[0], row.pk}
    assert str(Event.unscoped.latest("pk").agent) == "vi"


def test_no_more_is_pruned_than_was_shown(apollo: Project, ada: Caller) -> None:
    expire(ada, 3)
    said(member(apollo, ADMIN), f"{LIST}prune/", {"limit": "2"})
    assert Snapshot.unscoped.count() == 1


@pytest.mark.parametrize("limit", ["0", "201", "x", "-1", "9" * 30])
def test_a_bad_limit_prunes_at_most_a_hundred(limit: str, apollo: Project, ada: Caller) -> None:
    expire(ada, 101)
    said(member(apollo, ADMIN), f"{LIST}prune/", {"limit": limit})
    assert Snapshot.unscoped.count() in (1, 101)


@pytest.mark.parametrize("role", [VIEWER, MEMBER])
def test_only_an_administrator_prunes(role: Any, apollo: Project, ada: Caller) -> None:
    expire(ada)
    client = member(apollo, role)
    assert "Only an administrator of apollo can delete them." in text_of(client, f"{LIST}prune/")
    said(client, f"{LIST}prune/", {"limit": "3"})
    assert Snapshot.unscoped.count() == 3


def test_there_may_be_nothing_to_prune(client: Client, row: Snapshot) -> None:
    assert "There is nothing to prune in apollo." in text_of(client, f"{LIST}prune/")


def test_another_project_is_not_pruned(apollo: Project, cy: Caller) -> None:
    expire(cy)
    said(member(apollo, ADMIN), f"{LIST}prune/?project=hermes", {"limit": "3"})
    assert Snapshot.unscoped.count() == 3


# -- Overview --------------------------------------------------------------------------------------


def test_the_overview_counts_tiers_actions_and_reasons(client: Client, ada: Caller, row: Snapshot) -> None:
    expire(ada, 3)
    predict_snapshots(caller=ada)
    page = client.get(f"{LIST}overview/")
    shown = {bar.name: (bar.count, bar.share) for bar in (*page.context["tiers"], *page.context["actions"])}
    assert (shown["active"], shown["expired"], shown["recent"]) == ((1, 25), (3, 75), (0, 0))
    assert (shown["decision"], shown["conversation"]) == ((1, 25), (3, 75))
    assert {bar.name: bar.count for bar in page.context["reasons"]}["it is a decision"] == 1
    for address in (
        f"{LIST}?project=apollo&amp;tier=expired",
        f"{LIST}?project=apollo&amp;action_type__exact=2",
    ):
        assert address in page.content.decode()
    assert "No prediction has been decided yet" in page.content.decode()


def test_the_overview_draws_hits_misses_and_brier_scores(
    client: Client, apollo: Project, row: Snapshot
) -> None:
    for days, hit in ((1, True), (2, False), (9, False)):
        PredictionOutcome.objects.create(
            project=apollo,
            score=0.5,
            temporal=1,
            causal=0,
            frequency=0,
            hit=hit,
            created_at=now() - timedelta(days),
        )
    page = client.get(f"{LIST}overview/")
    bars = page.context["weeks"]
    assert [(bar.hits, bar.misses) for bar in bars[-2:]] == [(0, 50), (50, 50)]
    assert (page.context["hits"], page.context["misses"], page.context["hit_percent"]) == (1, 2, 33)
    text = page.content.decode()
    assert "predictions, 16 Nov: 0.250" in text
    assert "default weights, 9 Nov: 0.160" in text
    assert "there are 3" in text


def test_an_empty_project_has_an_overview(client: Client) -> None:
    assert "There are no snapshots in apollo yet." in text_of(client, f"{LIST}overview/")


@pytest.mark.parametrize("page", ["overview", "prune"])
def test_a_person_with_several_projects_chooses_one(page: str, row: Snapshot, hermes: Project) -> None:
    client = superuser()
    assert "Choose a project." in text_of(client, f"{LIST}{page}/")
    assert "Choose a project." not in text_of(client, f"{LIST}{page}/?project=hermes")
    assert client.post(f"{LIST}{page}/").status_code == 200


@pytest.mark.parametrize("page", ["overview", "prune"])
def test_a_page_of_another_project_shows_nothing_of_it(page: str, client: Client, cy: Caller) -> None:
    write(cy, 3, summary="hermetic", at=now() - EXPIRED)
    text = text_of(client, f"{LIST}{page}/?project=hermes")
    assert "hermetic" not in text
    assert "hermes" not in text.replace("project=hermes", "")


def test_a_line_is_interrupted_where_a_value_is_missing() -> None:
    chart = line_chart(["a", "b", "c", "d"], [Line("x", "r", [0.1, 0.2, None, 0.9])], at_least=0.25)
    [drawn] = chart.lines
    assert (drawn.path.count("M"), drawn.path.count("L"), len(drawn.points)) == (2, 1, 3)
    assert all(0 <= point.y <= chart.bottom for point in drawn.points)
    assert (chart.levels[0].text, chart.levels[-1].text) == ("0.00", "1.00")
