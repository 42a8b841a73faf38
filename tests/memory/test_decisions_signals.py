"""Decisions written through the ORM leave what the services leave: history, one event, fresh links."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller, acting
from ctxhub.core.models import Agent, Event, Layer, Project, Scope, Tag
from memory.decisions.services.decisions import delete_decision, deprecate_decision, set_decision
from memory.models import Decision, DecisionRevision, DecisionScope, DecisionTag, ValueType

pytestmark = pytest.mark.usefixtures("index_is_kept")

KEY = "api/auth/method"
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def decision(apollo: Project) -> Decision:
    return Decision.objects.create(project=apollo, key=KEY, value="JWT")


def last_event(project: Project) -> tuple[str, str, str | None, dict[str, Any]]:
    event = Event.objects.in_project(project).select_related("agent").order_by("-id")[0]
    return event.verb, event.ref, event.agent.name if event.agent else None, event.data


def count_events(project: Project) -> int:
    return Event.objects.in_project(project).count()


def word(model: type[Tag] | type[Scope], project: Project, name: str) -> Any:
    return model.objects.in_project(project).filter(name=name).first() or model.objects.create(
        project=project, name=name
    )


def linked(project: Project) -> dict[str, Any]:
    return {"project": project, "updated_at": datetime(2000, 1, 1, tzinfo=UTC)}


# -- One change, one event, one revision -----------------------------------------------------------


def test_a_saved_value_leaves_a_revision_and_the_next_version(decision: Decision) -> None:
    decision.value = "OIDC"
    decision.save()
    decision.refresh_from_db()
    assert decision.version == "1.0.1"
    assert last_event(decision.project)[3] == {
        "version": "1.0.1",
        "was": "1.0.0",
        "changed": ["value", "version"],
    }
    [revision] = DecisionRevision.objects.in_project(decision.project)
    assert (revision.value, revision.version) == ("JWT", "1.0.0")


def test_saving_some_fields_raises_the_version_too(decision: Decision) -> None:
    decision.value = "5"
    decision.value_type = ValueType.INTEGER
    decision.save(update_fields=["value", "value_type"])
    decision.refresh_from_db()
    assert (decision.version, decision.number) == ("1.0.1", 5.0)


def test_a_renamed_key_leaves_an_event(decision: Decision) -> None:
    decision.key = "api/auth/way"
    decision.save()
    assert last_event(decision.project)[1:] == (
        "decision:api/auth/way",
        None,
        {"version": "1.0.0", "was": "1.0.0", "changed": ["key"]},
    )


def test_whoever_acts_is_the_author(decision: Decision, ada: Caller, ben: Caller) -> None:
    with acting(ada):
        decision.rationale = "Stateless."
        decision.save()
    assert last_event(decision.project)[2] == "ada"
    with acting(ben):
        decision.delete()
    assert last_event(decision.project)[2] == "ben"
    [revision] = Event.objects.in_project(ada.project).filter(verb="updated")
    assert revision.agent is not None


@pytest.mark.parametrize("model", [Tag, Scope])
def test_a_word_added_or_removed_is_a_change(decision: Decision, model: type[Tag] | type[Scope]) -> None:
    words: Any = decision.tags if model is Tag else decision.scopes
    name = "tags" if model is Tag else "scopes"
    words.add(word(model, decision.project, "x"), through_defaults=linked(decision.project))
    assert last_event(decision.project)[3]["changed"] == [name]
    words.remove(word(model, decision.project, "x"))
    assert last_event(decision.project)[3]["changed"] == [name]
    assert count_events(decision.project) == 3
    assert [r.data for r in DecisionRevision.objects.in_project(decision.project)] == [{name: ["x"]}, {}]


def test_a_word_added_moves_the_decision_to_the_front(decision: Decision) -> None:
    with time_machine.travel(NOON + timedelta(days=1_000), tick=False):
        decision.tags.add(word(Tag, decision.project, "x"), through_defaults=linked(decision.project))
    decision.refresh_from_db()
    [link] = DecisionTag.objects.in_project(decision.project)
    [newest, _] = Event.objects.in_project(decision.project)
    assert decision.updated_at == link.updated_at == newest.at == NOON + timedelta(days=1_000)


def test_the_links_stay_as_new_as_the_decision(decision: Decision) -> None:
    decision.tags.add(word(Tag, decision.project, "x"), through_defaults=linked(decision.project))
    decision.scopes.add(word(Scope, decision.project, "s"), through_defaults=linked(decision.project))
    decision.value = "OIDC"
    decision.save()
    times = {decision.updated_at}
    for model in (DecisionTag, DecisionScope):
        times |= set(model.objects.in_project(decision.project).values_list("updated_at", flat=True))
    assert len(times) == 1


def test_a_time_that_the_writer_sets_is_kept_and_the_event_is_new(decision: Decision) -> None:
    decision.tags.add(word(Tag, decision.project, "x"), through_defaults=linked(decision.project))
    decision.value, decision.updated_at = "OIDC", NOON
    before = datetime.now(UTC)
    decision.save()
    [link] = DecisionTag.objects.in_project(decision.project)
    assert link.updated_at == NOON
    assert Event.objects.in_project(decision.project).order_by("-id")[0].at >= before


def test_a_project_goes_with_everything_in_it(decision: Decision, ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="OIDC", tags=["x"], scopes=["s"], layer="data")
    set_decision(caller=ada, key="old", value="x")
    deprecate_decision(caller=ada, key="old", superseded_by=KEY)
    decision.project.delete()
    for model in (Decision, DecisionRevision, DecisionTag, DecisionScope, Event, Agent, Tag, Layer):
        assert not model.unscoped.exists()


# -- What the deleted one stood in the place of ----------------------------------------------------


def superseded(caller: Caller, count: int) -> list[Decision]:
    set_decision(caller=caller, key="heir", value="x")
    for n in range(count):
        set_decision(caller=caller, key=f"old/{n}", value=n, tags=["t"], scopes=["s"])
        deprecate_decision(caller=caller, key=f"old/{n}", reason="Old.", superseded_by="heir")
    return list(Decision.objects.in_project(caller.project).filter(key__startswith="old/"))


@pytest.mark.parametrize("by_service", [True, False])
def test_what_a_deleted_decision_superseded_has_changed_too(
    ada: Caller, ben: Caller, by_service: bool
) -> None:
    [old] = superseded(ada, 1)
    if by_service:
        delete_decision(caller=ben, key="heir")
    else:
        with acting(ben):
            Decision.objects.in_project(ada.project).filter(key="heir").delete()
    assert last_event(ada.project)[:3] == ("updated", "decision:old/0", "ben")
    assert last_event(ada.project)[3]["changed"] == ["superseded_by"]
    revision = DecisionRevision.objects.in_project(ada.project).filter(decision=old).latest("pk")
    assert (revision.data["superseded_by"], revision.data["reason"]) == ("heir", "Old.")
    stood_since = old.updated_at
    old.refresh_from_db()
    assert (old.superseded_by, old.reason, str(old.agent)) == (None, "Old.", "ben")
    assert old.updated_at > stood_since
    assert DecisionTag.unscoped.get(decision=old).updated_at == old.updated_at
    assert DecisionScope.unscoped.get(decision=old).updated_at == old.updated_at


def test_those_that_are_deleted_together_leave_one_event_each(ada: Caller) -> None:
    superseded(ada, 2)
    before = count_events(ada.project)
    Decision.objects.in_project(ada.project).all().delete()
    assert count_events(ada.project) == before + 3
    assert set(Event.objects.in_project(ada.project).order_by("-pk").values_list("verb", flat=True)[:3]) == {
        "deleted"
    }


def test_deleting_asks_as_often_however_many_were_superseded(ada: Caller) -> None:
    asked = []
    for count in (2, 20):
        superseded(ada, count)
        with CaptureQueriesContext(connection) as queries:
            delete_decision(caller=ada, key="heir")
        asked.append(len(queries))
    assert asked[0] == asked[1]
