"""Files and leases written through the ORM update the same stats and events as the services."""

from datetime import timedelta

import pytest
from django.db import transaction

from ctxhub.core.accounts.projects import create_project
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller, acting
from ctxhub.core.models import Agent, Event, Layer, Project, Tally
from tracking.changes.services import record_change
from tracking.leases.queries import list_leases
from tracking.leases.services import acquire_lease
from tracking.models import ChangeKind, FileChange, Lease, LeasePath, Resource

pytestmark = pytest.mark.usefixtures("index_is_kept")


def stats(project: Project) -> dict[tuple[str, int], int]:
    rows = Tally.objects.in_project(project).exclude(count=0).values_list("noun", "layer", "count")
    return {(noun, layer): count for noun, layer, count in rows}


def counted(project: Project) -> dict[tuple[str, int], int]:
    """The stats counted from the rows."""
    found: dict[tuple[str, int], int] = {}
    for layer in FileChange.objects.in_project(project).values_list("layer_id", flat=True):
        found["change", layer or 0] = found.get(("change", layer or 0), 0) + 1
    if files := Resource.objects.in_project(project).count():
        found["resource", 0] = files
    return found


def log(project: Project) -> list[tuple[str, str, str]]:
    events = Event.objects.in_project(project).order_by("pk")
    return list(events.values_list("noun", "verb", "ref"))


def test_a_change_created_by_the_orm_equals_a_recorded_one(apollo: Project, hermes: Project) -> None:
    layer = Layer.objects.in_project(apollo).get(name="data")
    with acting(Caller(project=apollo, agent="ada")):
        file = Resource.objects.create(project=apollo, path="src/app.py")
        FileChange.objects.create(
            project=apollo, resource=file, change=ChangeKind.MODIFIED, layer=layer, description="Why."
        )
    record_change(
        caller=Caller(project=hermes, agent="ada"),
        path="src/app.py",
        change="modified",
        layer="data",
        description="Why.",
    )
    assert log(apollo) == log(hermes) == [("change", "modified", "resource:src/app.py")]
    assert stats(apollo) == counted(apollo)
    assert sorted(noun for noun, _ in stats(apollo)) == sorted(noun for noun, _ in stats(hermes))
    [one, other] = [
        Event.objects.in_project(project).values_list("agent__name", "data").get()
        for project in (apollo, hermes)
    ]
    assert (one[0], one[1]["note"]) == (other[0], other[1]["note"]) == ("ada", "Why.")
    assert str(FileChange.objects.in_project(apollo).get().agent) == "ada"


def test_a_change_with_a_new_layer_moves_its_count(ada: Caller, apollo: Project) -> None:
    made = record_change(caller=ada, path="a", change="created")["id"]
    change = FileChange.objects.in_project(apollo).get(pk=made)
    change.layer = Layer.objects.in_project(apollo).get(name="data")
    change.save()
    assert stats(apollo) == counted(apollo)
    assert log(apollo)[-1] == ("change", "updated", f"change:{made}")
    change.save()
    assert len(log(apollo)) == 2


def test_a_change_that_loses_its_description_leaves_the_index(ada: Caller, apollo: Project) -> None:
    made = record_change(caller=ada, path="a", change="created", description="Rotate.")["id"]
    change = FileChange.objects.in_project(apollo).get(pk=made)
    change.description = ""
    change.save()
    assert log(apollo)[-1] == ("change", "updated", f"change:{made}")


def test_a_deleted_change_is_no_longer_counted(ada: Caller, apollo: Project) -> None:
    for path in ("a", "b", "b"):
        record_change(caller=ada, path=path, change="created", layer="data")
    first = FileChange.objects.in_project(apollo).order_by("pk")[0]
    with acting(ada):
        FileChange.objects.in_project(apollo).filter(pk=first.pk).delete()
        Resource.objects.in_project(apollo).get(path="a").delete()
    assert stats(apollo) == counted(apollo)
    assert log(apollo)[-1] == ("change", "deleted", f"change:{first.pk}")
    assert Event.objects.in_project(apollo).order_by("-pk")[0].data["note"] == "created a"


def test_a_rolled_back_write_records_nothing(apollo: Project) -> None:
    file = Resource.objects.create(project=apollo, path="a")
    before = stats(apollo)
    with transaction.atomic():
        FileChange.objects.create(project=apollo, resource=file, change=ChangeKind.CREATED)
        transaction.set_rollback(True)
    assert (stats(apollo), log(apollo)) == (before, [])


def test_a_lease_written_by_the_orm_records_events(ada: Caller, apollo: Project) -> None:
    agent = Agent.objects.create(project=apollo, name="ada")
    other = Agent.objects.create(project=apollo, name="ben")
    later = clock.now() + timedelta(minutes=5)
    leases = [Lease.objects.create(project=apollo, agent=agent, expires_at=later) for _ in range(2)]
    LeasePath.objects.create(project=apollo, lease=leases[0], pattern="src/**")
    assert LeasePath.objects.in_project(apollo).get().head == "src"
    assert [row[0] for row in list_leases(apollo.pk, path="src/a.py").rows] == [leases[0].pk]
    leases[0].expires_at += timedelta(minutes=5)
    leases[0].save()
    leases[0].reason = "Rework."
    leases[0].save()
    for lease, by in zip(leases, (agent, other), strict=True):
        lease.released_at, lease.released_by = clock.now(), by
        lease.save()
    leases[0].delete()
    verbs = ["leased", "leased", "renewed", "released", "force_released", "deleted"]
    assert [verb for _, verb, _ in log(apollo)] == verbs
    assert not LeasePath.objects.in_project(apollo).exists()


def test_deleting_a_project_removes_all_its_rows(ada: Caller) -> None:
    project = create_project(slug="brief")
    eve = Caller(project=project, agent="eve")
    record_change(caller=eve, path="a", change="created", layer="data")
    acquire_lease(caller=eve, paths=["a"])
    project.delete()
    for model in (FileChange, Resource, Lease, LeasePath, Event, Tally):
        assert not model.unscoped.filter(project_id=project.pk).exists()
