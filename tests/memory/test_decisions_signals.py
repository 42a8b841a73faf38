"""Decisions written through the ORM: same history, events and link times as after the service functions."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller, acting
from ctxhub.core.models import Agent, Event, Layer, Project, Scope, Tag
from memory.decisions.services import delete_decision, deprecate_decision, set_decision
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


def get_or_create(model: type[Tag] | type[Scope], project: Project, name: str) -> Any:
    return model.objects.in_project(project).filter(name=name).first() or model.objects.create(
        project=project, name=name
    )


def link_defaults(project: Project) -> dict[str, Any]:
    return {"project": project, "updated_at": datetime(2000, 1, 1, tzinfo=UTC)}


# -- One change, one event, one revision -----------------------------------------------------------


def test_saving_a_value_creates_a_revision_and_raises_the_version(decision: Decision) -> None:
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


def test_saving_with_update_fields_raises_the_version(decision: Decision) -> None:
    decision.value = "5"
    decision.value_type = ValueType.INTEGER
    decision.save(update_fields=["value", "value_type"])
    decision.refresh_from_db()
    assert (decision.version, decision.number) == ("1.0.1", 5.0)


def test_renaming_a_key_records_an_event(decision: Decision) -> None:
    decision.key = "api/auth/way"
    decision.save()
    assert last_event(decision.project)[1:] == (
        "decision:api/auth/way",
        None,
        {"version": "1.0.0", "was": "1.0.0", "changed": ["key"]},
    )


def test_the_acting_caller_is_the_author_of_events(decision: Decision, ada: Caller, ben: Caller) -> None:
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
def test_adding_or_removing_a_tag_or_scope_is_a_change(
    decision: Decision, model: type[Tag] | type[Scope]
) -> None:
    relation: Any = decision.tags if model is Tag else decision.scopes
    name = "tags" if model is Tag else "scopes"
    relation.add(
        get_or_create(model, decision.project, "x"), through_defaults=link_defaults(decision.project)
    )
    assert last_event(decision.project)[3]["changed"] == [name]
    relation.remove(get_or_create(model, decision.project, "x"))
    assert last_event(decision.project)[3]["changed"] == [name]
    assert count_events(decision.project) == 3
    assert [r.data for r in DecisionRevision.objects.in_project(decision.project)] == [{name: ["x"]}, {}]


def test_adding_a_tag_updates_the_time_of_decision_and_links(decision: Decision) -> None:
    with time_machine.travel(NOON + timedelta(days=1_000), tick=False):
        decision.tags.add(
            get_or_create(Tag, decision.project, "x"), through_defaults=link_defaults(decision.project)
        )
    decision.refresh_from_db()
    [link] = DecisionTag.objects.in_project(decision.project)
    [newest, _] = Event.objects.in_project(decision.project)
    assert decision.updated_at == link.updated_at == newest.at == NOON + timedelta(days=1_000)


def test_saving_a_decision_updates_the_time_of_its_links(decision: Decision) -> None:
    decision.tags.add(
        get_or_create(Tag, decision.project, "x"), through_defaults=link_defaults(decision.project)
    )
    decision.scopes.add(
        get_or_create(Scope, decision.project, "s"), through_defaults=link_defaults(decision.project)
    )
    decision.value = "OIDC"
    decision.save()
    times = {decision.updated_at}
    for model in (DecisionTag, DecisionScope):
        times |= set(model.objects.in_project(decision.project).values_list("updated_at", flat=True))
    assert len(times) == 1


def test_a_given_updated_at_is_stored_and_the_event_has_the_current_time(decision: Decision) -> None:
    decision.tags.add(
        get_or_create(Tag, decision.project, "x"), through_defaults=link_defaults(decision.project)
    )
    decision.value, decision.updated_at = "OIDC", NOON
    before = datetime.now(UTC)
    decision.save()
    [link] = DecisionTag.objects.in_project(decision.project)
    assert link.updated_at == NOON
    assert Event.objects.in_project(decision.project).order_by("-id")[0].at >= before


def test_deleting_a_project_deletes_everything_in_it(decision: Decision, ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="OIDC", tags=["x"], scopes=["s"], layer="data")
    set_decision(caller=ada, key="old", value="x")
    deprecate_decision(caller=ada, key="old", superseded_by=KEY)
    decision.project.delete()
    for model in (Decision, DecisionRevision, DecisionTag, DecisionScope, Event, Agent, Tag, Layer):
        assert not model.unscoped.exists()


# -- Deleting --------------------------------------------------------------------------------------


def create_superseded(caller: Caller, count: int) -> list[Decision]:
    set_decision(caller=caller, key="heir", value="x")
    for n in range(count):
        set_decision(caller=caller, key=f"old/{n}", value=n, tags=["t"], scopes=["s"])
        deprecate_decision(caller=caller, key=f"old/{n}", reason="Old.", superseded_by="heir")
    return list(Decision.objects.in_project(caller.project).filter(key__startswith="old/"))


@pytest.mark.parametrize("by_service", [True, False])
def test_deleting_a_successor_updates_the_decisions_it_superseded(
    ada: Caller, ben: Caller, by_service: bool
) -> None:
    [old] = create_superseded(ada, 1)
    if by_service:
        delete_decision(caller=ben, key="heir")
    else:
        with acting(ben):
            Decision.objects.in_project(ada.project).filter(key="heir").delete()
    assert last_event(ada.project)[:3] == ("updated", "decision:old/0", "ben")
    assert last_event(ada.project)[3]["changed"] == ["superseded_by"]
    revision = DecisionRevision.objects.in_project(ada.project).filter(decision=old).latest("pk")
    assert (revision.data["superseded_by"], revision.data["reason"]) == ("heir", "Old.")
    updated_before = old.updated_at
    old.refresh_from_db()
    assert (old.superseded_by, old.reason, str(old.agent)) == (None, "Old.", "ben")
    assert old.updated_at > updated_before
    assert DecisionTag.unscoped.get(decision=old).updated_at == old.updated_at
    assert DecisionScope.unscoped.get(decision=old).updated_at == old.updated_at


def test_deleting_decisions_together_records_one_event_each(ada: Caller) -> None:
    create_superseded(ada, 2)
    before = count_events(ada.project)
    Decision.objects.in_project(ada.project).all().delete()
    assert count_events(ada.project) == before + 3
    assert set(Event.objects.in_project(ada.project).order_by("-pk").values_list("verb", flat=True)[:3]) == {
        "deleted"
    }


def test_deleting_takes_the_same_number_of_queries_however_many_were_superseded(ada: Caller) -> None:
    query_counts = []
    for count in (2, 20):
        create_superseded(ada, count)
        with CaptureQueriesContext(connection) as queries:
            delete_decision(caller=ada, key="heir")
        query_counts.append(len(queries))
    assert query_counts[0] == query_counts[1]
