"""The tool `hub`: activity, updates, stats, agents and vocabulary."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from ctxhub.core.hub.overview import IN_ORDER
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.listing import make_cursor
from ctxhub.core.models import Agent, Layer
from ctxhub.toolbox.dispatch import call
from memory.decisions.services import delete_decision, deprecate_decision, set_decision, set_decision_batch
from memory.models import Decision

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def hub(caller: Caller, action: str, **arguments: Any) -> dict[str, Any]:
    return call(caller, "hub", {"action": action, **arguments})


def activity(caller: Caller, **query: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = hub(caller, "activity", format="objects", **query)["items"]
    return items


# -- Activity --------------------------------------------------------------------------------------


def test_activity_lists_agent_verb_ref_and_note(ada: Caller, ben: Caller) -> None:
    with time_machine.travel(NOON, tick=False):
        set_decision(caller=ada, key="k", value="a")
        set_decision(caller=ben, key="k", value="b", tags=["x"])
        deprecate_decision(caller=ada, key="k", reason="Old.")
        delete_decision(caller=ada, key="k")
    rows = [(row["agent"], row["verb"], row["note"]) for row in activity(ada)]
    assert rows == [
        ("ada", "deleted", "1.0.1"),
        ("ada", "deprecated", "1.0.1: status, reason; Old."),
        ("ben", "updated", "1.0.0 > 1.0.1: value, version, tags"),
        ("ada", "created", "1.0.0"),
    ]
    assert {(row["ref"], row["at"]) for row in activity(ada)} == {("decision:k", "2026-11-21T12:00:00Z")}


def test_activity_is_filtered_by_agents_verbs_and_time(ada: Caller, ben: Caller) -> None:
    for hours, (caller, key) in enumerate(((ada, "a"), (ben, "b"), (ada, "c"))):
        with time_machine.travel(NOON + timedelta(hours=hours), tick=False):
            set_decision(caller=caller, key=key, value="x")
    with time_machine.travel(NOON + timedelta(hours=3), tick=False):
        set_decision(caller=ada, key="a", value="y")

        def refs(**query: Any) -> list[str]:
            return [row["ref"][-1] for row in activity(ada, **query)]

        assert refs(agents=["BEN"]) == ["b"]
        assert refs(agents=["*"]) == refs(agents=["ada", "ben"]) == refs() == ["a", "c", "b", "a"]
        assert refs(agents=["nobody"]) == []
        assert refs(verbs=["updated"]) == refs(verbs=["Update"]) == ["a"]
        assert refs(verbs=["set"]) == ["a", "c", "b", "a"]
        assert refs(since="90m") == ["a", "c"]
        assert refs(since="2026-11-21T14:00:00Z") == ["a", "c"]


def test_activity_is_paged_without_gap_or_repeat(ada: Caller) -> None:
    set_decision_batch(caller=ada, items=[{"key": f"k{n}", "value": n} for n in range(25)])
    refs, cursor = [], None
    while True:
        page = hub(ada, "activity", limit=10, **({"cursor": cursor} if cursor else {}))
        refs += [row[3] for row in page["rows"]]
        if not (cursor := page.get("next")):
            break
    assert refs == [f"decision:k{n}" for n in reversed(range(25))]


@pytest.mark.parametrize(
    "cursor", ["x", make_cursor("a"), make_cursor(10**30), make_cursor(1, 2), make_cursor(-1)]
)
def test_an_invalid_cursor_is_refused(ada: Caller, cursor: str) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        hub(ada, "activity", cursor=cursor)


# -- Updates ---------------------------------------------------------------------------------------


def test_updates_count_what_others_did_since(ada: Caller, ben: Caller) -> None:
    cursor = hub(ada, "updates")["cursor"]
    set_decision(caller=ada, key="mine", value="x")
    for key, value in (("a", "1"), ("a", "2"), ("b", "1")):
        set_decision(caller=ben, key=key, value=value)
    updates = hub(ada, "updates", since=cursor)
    assert updates["decisions"] == 2
    assert "decisions" not in hub(ada, "updates", since=updates["cursor"])
    assert hub(ben, "updates", since=cursor)["decisions"] == 1


def test_updates_match_the_agent_in_any_case(ada: Caller) -> None:
    set_decision(caller=ada, key="k", value="x")
    assert "decisions" not in hub(ada, "updates", since="e0", agent="ADA")


def test_updates_accept_a_time_as_since(ada: Caller, ben: Caller) -> None:
    with time_machine.travel(NOON, tick=False):
        set_decision(caller=ben, key="k", value="x")
        assert hub(ada, "updates", since="2026-11-21T12:00:00Z")["decisions"] == 1
        assert "decisions" not in hub(ada, "updates", since="2026-11-21T12:00:01Z")


def test_changes_without_an_agent_are_updates_for_everyone(ada: Caller) -> None:
    Decision.objects.create(project=ada.project, key="k", value="x")
    assert hub(ada, "updates", since="e0")["decisions"] == 1


def test_a_hub_without_events_has_a_cursor(ada: Caller) -> None:
    assert hub(ada, "updates") == {"cursor": "e0"}


# -- Stats, agents, vocabulary ---------------------------------------------------------------------


def test_stats_count_everything(ada: Caller) -> None:
    set_decision(caller=ada, key="a", value="x", tags=["new"], scopes=["s", "t"])
    set_decision(caller=ada, key="b", value="x", status="draft")
    stats = hub(ada, "stats")
    assert {name: stats[name] for name in ("decisions", "tags", "scopes", "layers", "agents")} == {
        "decisions": [1, 2],
        "tags": 12,
        "scopes": 2,
        "layers": 5,
        "agents": 1,
    }


def test_snapshots_and_sessions_are_counted_and_told(ada: Caller, ben: Caller) -> None:
    cursor = hub(ben, "updates")["cursor"]
    session = call(ada, "session", {"action": "save", "summary": "s"})["session"]
    snapshot = call(ada, "snapshot", {"content": "x"})["id"]
    call(ada, "session", {"action": "track", "path": "a.py", "access": "viewed", "agent": "cid"})
    told = [(row["agent"], row["verb"], row["ref"]) for row in activity(ben)]
    assert told == [("ada", "created", f"snapshot:{snapshot}"), ("ada", "saved", f"session:{session}")]
    assert {row["ref"] for row in activity(ben, verbs=["save"])} == {ref for *_, ref in told}
    updates = hub(ben, "updates", since=cursor)
    assert (updates["snapshots"], updates["sessions"]) == (1, 1)
    stats = hub(ben, "stats")
    assert (stats["snapshots"], stats["sessions"], list(stats)) == (1, 1, [*IN_ORDER])


def test_a_prune_is_told_by_its_verb(ada: Caller) -> None:
    snapshot = call(ada, "snapshot", {"content": "x"})["id"]
    with time_machine.travel(datetime.now(UTC) + timedelta(days=31), tick=False):
        assert call(ada, "snapshot", {"action": "prune", "dry_run": False})["pruned"] == 1
    for verb in ("pruned", "prune"):
        assert [row["ref"] for row in activity(ada, verbs=[verb])] == [f"snapshot:{snapshot}"]


def test_agents_are_listed_last_seen_first(ada: Caller) -> None:
    for minutes, name in enumerate(("ada", "ben", "zoe")):
        with time_machine.travel(NOON + timedelta(minutes=minutes), tick=False):
            hub(ada, "stats", agent=name)
    Agent.objects.create(project=ada.project, name="never")
    with time_machine.travel(NOON + timedelta(minutes=5), tick=False):
        rows = hub(ada, "agents", agent="zoe")["rows"]
    assert [row[0] for row in rows] == ["zoe", "ben", "ada", "never"]
    assert rows[1] == ["ben", "2026-11-21T12:01:00Z"]


def test_a_read_registers_its_agent_and_not_the_agent_it_filters_by(ada: Caller) -> None:
    call(ada, "decision", {"action": "list", "by": "nobody"})
    assert list(Agent.objects.in_project(ada.project).values_list("name", flat=True)) == ["ada"]


def test_last_seen_is_stored_once_a_minute(ada: Caller) -> None:
    hub(ada, "stats")
    first = Agent.objects.in_project(ada.project).get().last_seen_at
    hub(ada, "stats")
    assert Agent.objects.in_project(ada.project).get().last_seen_at == first


def test_vocabulary_counts_uses_and_keeps_the_layers_order(ada: Caller) -> None:
    for key, tags in (("a", ["api", "new"]), ("b", ["api"])):
        set_decision(caller=ada, key=key, value="x", tags=tags, layer="data", scopes=["s"])
    vocabulary = hub(ada, "vocabulary")
    layers = Layer.objects.in_project(ada.project).order_by("position").values_list("name", flat=True)
    assert list(vocabulary["layers"]) == list(layers)
    assert (vocabulary["layers"]["data"], vocabulary["layers"]["business"]) == (2, 0)
    assert list(vocabulary["tags"].items())[:2] == [("api", 2), ("new", 1)]
    assert vocabulary["scopes"] == {"s": 2}


def test_vocabulary_comes_in_pages_of_each_kind(ada: Caller) -> None:
    set_decision(caller=ada, key="a", value="x", tags=["t1", "t2"], scopes=["s1", "s2", "s3"])
    whole = hub(ada, "vocabulary")
    assert "next" not in whole
    found: dict[str, list[str]] = {kind: [] for kind in whole}
    cursor: dict[str, str] = {}
    while True:
        page = hub(ada, "vocabulary", limit=2, **cursor)
        following = page.pop("next", None)
        assert all(len(words) <= 2 for words in page.values())
        for kind, words in page.items():
            found[kind] += words
        if following is None:
            break
        cursor = {"cursor": following}
    assert found == {kind: list(words) for kind, words in whole.items()}


@pytest.mark.parametrize("bad", [{"limit": 0}, {"limit": 201}, {"cursor": "x"}])
def test_a_bad_page_of_vocabulary_is_refused(ada: Caller, bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        hub(ada, "vocabulary", **bad)


def test_agents_come_in_pages(ada: Caller) -> None:
    for name in ("ada", "ben", "eve"):
        call(ada, "hub", {"agent": name})
    first = call(ada, "hub", {"action": "agents", "limit": 1})
    rest = call(ada, "hub", {"action": "agents", "cursor": first["next"]})
    assert len({name for name, _ in [*first["rows"], *rest["rows"]]}) == 3 == first["total"]
    assert "next" not in rest
