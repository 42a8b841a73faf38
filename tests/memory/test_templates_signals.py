"""Templates written through the ORM leave what the service leaves: one event, author and time."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ctxhub.core.caller import Caller, acting
from ctxhub.core.models import Event, Project
from memory.models import DecisionTemplate

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


@pytest.fixture
def template(apollo: Project) -> DecisionTemplate:
    return DecisionTemplate.objects.create(project=apollo, name="ADR", require=["rationale"])


def events(project: Project) -> list[tuple[str, str, str | None, dict[str, Any]]]:
    rows = Event.objects.in_project(project).filter(noun="template").order_by("pk")
    return list(rows.values_list("verb", "ref", "agent__name", "data"))


def test_a_created_row_leaves_an_event(template: DecisionTemplate) -> None:
    assert template.folded == "adr"
    assert events(template.project) == [("created", "template:ADR", None, {})]


@pytest.mark.parametrize("fields", [None, ["name", "patterns"]])
def test_a_change_leaves_an_event_and_has_its_author(
    template: DecisionTemplate, ben: Caller, fields: list[str] | None
) -> None:
    template.updated_at = LONG_AGO
    DecisionTemplate.unscoped.update(updated_at=LONG_AGO)
    template.name, template.patterns = "Adr 2", {"key": "x"}
    with acting(ben):
        template.save(update_fields=fields)
    stored = DecisionTemplate.unscoped.get()
    assert (stored.folded, str(stored.agent), stored.updated_at > LONG_AGO) == ("adr 2", "ben", True)
    assert events(ben.project)[1:] == [
        ("updated", "template:Adr 2", "ben", {"changed": ["name", "patterns"]})
    ]


def test_saving_what_is_there_leaves_nothing(template: DecisionTemplate) -> None:
    before = DecisionTemplate.unscoped.get().updated_at
    template.save()
    assert len(events(template.project)) == 1
    assert DecisionTemplate.unscoped.get().updated_at == before


@pytest.mark.parametrize("several", [False, True])
def test_a_deleted_row_leaves_an_event(template: DecisionTemplate, ben: Caller, several: bool) -> None:
    with acting(ben):
        (DecisionTemplate.objects.in_project(ben.project) if several else template).delete()
    assert events(ben.project)[1:] == [("deleted", "template:ADR", "ben", {})]


def test_a_template_goes_with_its_project(template: DecisionTemplate) -> None:
    template.project.delete()
    assert not DecisionTemplate.unscoped.exists()
    assert not Event.unscoped.exists()
