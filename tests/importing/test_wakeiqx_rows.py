"""`manage.py import_wakeiqx`: snapshots with their fields and links, and repeated imports."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.events import cleanup
from ctxhub.core.events.log import recorded
from ctxhub.core.kit import clock
from ctxhub.core.kit.inputs import CONTENT_BYTES, TEXT_BYTES
from ctxhub.core.models import Event, Project, SearchEntry, Tag, Tally
from memory.snapshots.history import HISTORY
from memory.snapshots.models import ActionType, Snapshot, SnapshotDependency, Tier
from tests.importing.old_snapshots import NEWEST, OldSnapshots
from tests.sqlew.importing import Import, imported
from tests.tables import dump_all, dump_project

pytestmark = pytest.mark.usefixtures("index_is_kept")

Take = Callable[..., Import]
THEN = datetime(2025, 10, 11, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def no_cleanup_is_due(apollo: Project, hermes: Project) -> None:
    """A cleanup would correct the tiers that the file says."""
    for project in (apollo, hermes):
        cleanup._cleaned[project.pk] = (clock.now(), cleanup.EVERY)


def snapshots_of(project: Project) -> list[Snapshot]:
    return list(Snapshot.objects.in_project(project).select_related("caused_by").order_by("pk"))


def causes_of(project: Project) -> dict[str, str | None]:
    """The summary of each cause, by summary."""
    return {s.summary: s.caused_by.summary if s.caused_by else None for s in snapshots_of(project)}


def dependencies_of(project: Project) -> list[tuple[str, str]]:
    links = SnapshotDependency.objects.in_project(project).select_related("snapshot", "dependency")
    return [(link.snapshot.summary, link.dependency.summary) for link in links.order_by("pk")]


def fill(file: OldSnapshots, count: int = 1, first: int = 0) -> None:
    """For each number a cause and an effect, with tags and a dependency."""
    for n in range(first, first + count):
        file.add(f"a{n}", f"Cause {n}", tags="api, own")
        file.add(f"b{n}", f"Effect {n}", caused_by=f"a{n}", dependencies=[f"a{n}"], tags=f"t{n}")


# -- Imported rows ---------------------------------------------------------------------------------


def test_a_snapshot_keeps_its_fields(apollo: Project, snapshots: OldSnapshots, take_snapshots: Take) -> None:
    snapshots.add(
        "550e8400-e29b-41d4-a716-446655440000",
        "We chose OAuth2 with PKCE.",
        source="mcp",
        metadata={"userAgent": "Claude", "gone": None},
        tags="oauth, security,,OAuth ",
        action_type="decision",
        rationale="Safer on phones.",
    )
    assert take_snapshots().counts == {"snapshots": (1, 0, 0), "tags": (1, 1, 0)}
    [snapshot] = snapshots_of(apollo)
    assert (snapshot.summary, snapshot.content) == ("We chose OAuth2 with PKCE.",) * 2
    assert (snapshot.action_type, snapshot.rationale) == (ActionType.DECISION, "Safer on phones.")
    assert (snapshot.source, snapshot.agent, snapshot.session_id) == ("mcp", None, None)
    assert snapshot.tokens > 0
    assert sorted(snapshot.tags.values_list("name", flat=True)) == ["oauth", "security"]
    assert snapshot.metadata == {
        "userAgent": "Claude",
        "imported_id": "550e8400-e29b-41d4-a716-446655440000",
        "imported_project": "auth",
    }


def test_a_snapshot_keeps_its_times_and_accesses(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take
) -> None:
    snapshots.add(last_accessed="2025-10-11T13:00:00.000Z", access_count=12, memory_tier="ARCHIVED")
    take_snapshots()
    [snapshot] = snapshots_of(apollo)
    assert (snapshot.created_at, snapshot.updated_at) == (THEN, THEN)
    assert (snapshot.last_accessed, snapshot.touched_at) == (THEN + HOUR, THEN + HOUR)
    assert (snapshot.access_count, snapshot.tier) == (12, Tier.ARCHIVED)


def test_a_snapshot_keeps_its_prediction(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take
) -> None:
    snapshots.add(
        prediction_score=0.85,
        last_predicted="2025-10-11 12:00:00",
        predicted_next_access="2025-10-11T13:00:00Z",
        propagation_reason=["recently_accessed", "decision_node"],
    )
    take_snapshots()
    [snapshot] = snapshots_of(apollo)
    assert (snapshot.prediction_score, snapshot.reasons) == (0.85, ["recently_accessed", "decision_node"])
    assert (snapshot.predicted_at, snapshot.predicted_next) == (THEN, THEN + HOUR)
    assert (snapshot.temporal, snapshot.causal, snapshot.frequency) == (None, None, None)


def test_a_snapshot_without_a_score_has_no_prediction(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take
) -> None:
    snapshots.add(propagation_reason=["recently_accessed"], last_predicted="2025-10-11 12:00:00")
    take_snapshots()
    [snapshot] = snapshots_of(apollo)
    assert (snapshot.prediction_score, snapshot.predicted_at, snapshot.reasons) == (None, None, [])


@pytest.mark.parametrize("tier", list(Tier))
@pytest.mark.parametrize("spell", [str.lower, str.upper, str.title])
def test_tiers_are_read_in_any_case(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take, tier: Tier, spell: Callable[[str], str]
) -> None:
    snapshots.add(memory_tier=spell(tier.label))
    assert take_snapshots().changes == []
    assert snapshots_of(apollo)[0].tier == tier


@pytest.mark.parametrize(
    "stored",
    ["2025-10-11T12:00:00Z", "2025-10-11T12:00:00.000Z", "2025-10-11 12:00:00", "2025-10-11T14:00:00+02:00"],
)
def test_times_are_read_in_every_format(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take, stored: str
) -> None:
    snapshots.add(timestamp=stored, last_accessed=stored)
    take_snapshots()
    [snapshot] = snapshots_of(apollo)
    assert (snapshot.created_at, snapshot.last_accessed) == (THEN, THEN)


@pytest.mark.parametrize("source", [None, "", " ", "unknown"])
def test_a_missing_source_is_unknown(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take, source: str | None
) -> None:
    snapshots.add(source=source)
    assert take_snapshots().changes == []
    assert snapshots_of(apollo)[0].source == "unknown"


@pytest.mark.parametrize("version", range(1, NEWEST + 1))
def test_every_version_of_the_schema_is_read(apollo: Project, tmp_path: Any, version: int) -> None:
    file = OldSnapshots(tmp_path / "old.db", version)
    file.add(tags="api", metadata={"a": 1})
    report = imported(file.close(), command="import_wakeiqx")
    assert (report.counts["snapshots"], report.changes) == ((1, 0, 0), [])
    [snapshot] = snapshots_of(apollo)
    assert (snapshot.action_type, snapshot.tier) == (ActionType.CONVERSATION, Tier.ACTIVE)
    assert (snapshot.access_count, snapshot.last_accessed, snapshot.prediction_score) == (0, None, None)


# -- Projects --------------------------------------------------------------------------------------


def test_all_projects_of_the_file_are_imported(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take
) -> None:
    snapshots.add("s1", project="web")
    snapshots.add("s2", project="api", caused_by="s1")
    take_snapshots()
    first, second = snapshots_of(apollo)
    assert [first.metadata["imported_project"], second.metadata["imported_project"]] == ["web", "api"]
    assert second.caused_by_id == first.pk


def test_one_project_of_the_file_can_be_chosen(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take
) -> None:
    snapshots.add("s1", project="Web")
    snapshots.add("s2", project="api")
    assert take_snapshots("--source-project", "web").counts == {"snapshots": (1, 0, 0)}
    assert snapshots_of(apollo)[0].metadata["imported_id"] == "s1"


def test_links_lead_to_projects_imported_before(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take
) -> None:
    snapshots.add("s1", "One", project="web")
    snapshots.add("s2", "Two", project="api", caused_by="s1", dependencies=["s1"])
    take_snapshots("--source-project", "web")
    assert take_snapshots("--source-project", "api").reasons == []
    assert causes_of(apollo) == {"One": None, "Two": "One"}
    assert dependencies_of(apollo) == [("Two", "One")]


# -- Causes and dependencies -----------------------------------------------------------------------


def test_causes_and_dependencies_are_imported(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take
) -> None:
    snapshots.add("late", "Late", caused_by="root", dependencies=["root", "other", "root"])
    snapshots.add("root", "Root")
    snapshots.add("other", "Other", caused_by="", dependencies="")
    counts = take_snapshots().counts
    assert (counts["causes"], counts["dependencies"]) == ((1, 0, 0), (2, 0, 0))
    assert causes_of(apollo) == {"Late": "Root", "Root": None, "Other": None}
    assert dependencies_of(apollo) == [("Late", "Root"), ("Late", "Other")]


def test_missing_causes_and_dependencies_are_reported(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take
) -> None:
    snapshots.add("s1", "One", caused_by="gone", dependencies=["gone", "s1", "s2"])
    snapshots.add("s2", "Two", caused_by="s2")
    snapshots.add("s3", " ")
    snapshots.add("s4", "Four", caused_by="s3")
    report = take_snapshots()
    assert report.counts == {"snapshots": (3, 0, 1), "causes": (0, 0, 3), "dependencies": (1, 0, 2)}
    assert report.reasons == [
        "snapshots (1): its summary is blank: ' '",
        "causes (2): the named snapshot is not there, or is left: 's1 to gone', 's4 to s3'",
        "dependencies (1): the named snapshot is not there, or is left: 's1 to gone'",
        "dependencies (1): the snapshot names itself: 's1'",
        "causes (1): the snapshot names itself: 's2'",
    ]
    assert causes_of(apollo) == {"One": None, "Two": None, "Four": None}
    assert dependencies_of(apollo) == [("One", "Two")]


def test_a_circle_of_two_hundred_is_kept(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take
) -> None:
    for n in range(200):
        snapshots.add(f"s{n}", f"Step {n}", caused_by=f"s{(n + 1) % 200}", dependencies=[f"s{(n + 7) % 200}"])
    assert take_snapshots().counts["causes"] == (200, 0, 0)
    assert causes_of(apollo) == {f"Step {n}": f"Step {(n + 1) % 200}" for n in range(200)}
    assert len(dependencies_of(apollo)) == 200


@pytest.mark.parametrize("stored", ["a, b", "{}", '{"a": 1}', "[", 5])
def test_dependencies_that_are_no_list_are_left_out(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take, stored: Any
) -> None:
    snapshots.add(dependencies=stored)
    changes = take_snapshots().changes
    assert len(changes) == (0 if stored == "{}" else 1)
    assert dependencies_of(apollo) == []


# -- Changed and skipped rows ----------------------------------------------------------------------


def test_snapshots_with_credentials_are_skipped(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take
) -> None:
    """Every agent can read what is stored, and the report does not repeat the credential."""
    secret = f"ghp_{'a1B2' * 9}"
    snapshots.add("s1", f"Use {secret}")
    snapshots.add("s2", rationale=secret)
    snapshots.add("s3", source=secret)
    snapshots.add(secret)
    snapshots.add("s5", project=secret)
    snapshots.add(
        "s6", tags=secret, metadata={"key": secret}, prediction_score=1, propagation_reason=[secret]
    )
    report = take_snapshots()
    assert report.counts == {"snapshots": (1, 0, 5), "tags": (0, 0, 1)}
    assert secret not in report.text
    assert not any(secret in repr(table) for table in dump_all().values())
    [snapshot] = snapshots_of(apollo)
    assert (snapshot.metadata, snapshot.reasons) == ({"imported_id": "s6", "imported_project": "auth"}, [])


def test_long_texts_are_truncated_and_reported(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take
) -> None:
    snapshots.add("s1", "é" * TEXT_BYTES, rationale="é" * TEXT_BYTES, source="s" * 101, project="p" * 201)
    snapshots.add("s2", "快" * (CONTENT_BYTES // 3 + 1), dependencies=[f"d{n}" for n in range(51)])
    report = take_snapshots()
    first, second = snapshots_of(apollo)
    assert (len(first.summary), len(first.content)) == (TEXT_BYTES // 2, TEXT_BYTES)
    assert (len(first.rationale), len(first.source)) == (TEXT_BYTES // 2, 100)
    assert len(first.metadata["imported_project"]) == 200
    assert len(second.content) == CONTENT_BYTES // 3
    assert report.counts["dependencies"] == (0, 0, 50)
    cut = [line.partition(": ")[2].partition(" had")[0] for line in report.changes]
    assert cut == ["its summary", "its rationale", "its source", "its project", "its content", "it"]


def test_tags_over_the_limits_are_skipped(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take
) -> None:
    snapshots.add(tags=",".join(["x" * 101, *(f"t{n}" for n in range(51))]))
    report = take_snapshots()
    assert report.counts["tags"] == (50, 0, 2)
    assert snapshots_of(apollo)[0].tags.count() == 50


def test_unknown_values_are_replaced(apollo: Project, snapshots: OldSnapshots, take_snapshots: Take) -> None:
    snapshots.add(
        timestamp="soon",
        action_type="refactor",
        memory_tier="lukewarm",
        access_count="many",
        prediction_score=1.5,
        propagation_reason="{}",
        metadata="not JSON",
    )
    report = take_snapshots()
    [snapshot] = snapshots_of(apollo)
    assert (snapshot.action_type, snapshot.tier) == (ActionType.CONVERSATION, Tier.ACTIVE)
    assert (snapshot.access_count, snapshot.prediction_score, snapshot.reasons) == (0, 1.0, [])
    assert snapshot.metadata["metadata"] == "not JSON"
    reasons = [line.partition(": ")[2].rpartition(": '")[0] for line in report.changes]
    assert reasons == [
        "it had no readable timestamp: the time of the import instead",
        "its action_type is not known here: conversation instead",
        "its memory_tier is not known here: active instead",
        "its access_count was no number, and is left out",
        "its prediction_score was not between 0 and 1",
    ]


# -- Repeated, dry and failed imports --------------------------------------------------------------


def test_importing_twice_changes_nothing(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take
) -> None:
    fill(snapshots, 3)
    snapshots.add("timeless", timestamp=None, caused_by="gone")
    assert take_snapshots().is_new
    before = dump_all()
    again = take_snapshots()
    assert (again.counts, again.reasons, again.changes) == ({"snapshots": (0, 7, 0)}, [], [])
    assert (dump_all(), again.is_new) == (before, False)


def test_a_second_import_takes_new_rows(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take
) -> None:
    fill(snapshots)
    take_snapshots()
    snapshots.add("late", "Late", caused_by="b0", dependencies=["a0"])
    assert take_snapshots().counts == {
        "snapshots": (1, 2, 0),
        "causes": (1, 0, 0),
        "dependencies": (1, 0, 0),
    }
    assert causes_of(apollo)["Late"] == "Effect 0"


def test_snapshots_changed_since_the_import_are_not_overwritten(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take
) -> None:
    fill(snapshots)
    take_snapshots()
    for snapshot in snapshots_of(apollo):
        snapshot.summary, snapshot.caused_by, snapshot.access_count = "Better", None, 9
        snapshot.save()
    before = dump_all()
    assert not take_snapshots().is_new
    assert dump_all() == before


def test_a_dry_run_writes_nothing_and_reports_the_same(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take
) -> None:
    fill(snapshots, 3)
    snapshots.add("bad", "")
    snapshots.add("lost", caused_by="bad", dependencies=["gone"], memory_tier="odd")
    before = dump_all()
    dry = take_snapshots("--dry-run")
    assert dump_all() == before
    wet = take_snapshots()
    assert (dry.counts, dry.reasons, dry.changes) == (wet.counts, wet.reasons, wet.changes)
    assert dry.text.endswith("this was a dry run, nothing is written.\n")


@pytest.mark.parametrize("noun", ["snapshot", "hub"])
def test_an_import_is_all_or_nothing(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take, noun: str
) -> None:
    def fail(nouns: set[str], **_: Any) -> None:
        if noun in nouns:
            raise RuntimeError("the power went")

    fill(snapshots)
    before = dump_all()
    recorded.connect(fail)
    try:
        with pytest.raises(RuntimeError):
            take_snapshots()
    finally:
        recorded.disconnect(fail)
    assert dump_all() == before
    assert take_snapshots().is_new


def test_an_empty_file_records_no_event(apollo: Project, take_snapshots: Take) -> None:
    assert not take_snapshots().is_new
    assert not Event.objects.in_project(apollo).exists()


def test_an_import_updates_counters_index_and_log(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take
) -> None:
    fill(snapshots, 3)
    take_snapshots()
    assert Tally.objects.in_project(apollo).get(noun="snapshot").count == 6
    entries = SearchEntry.objects.in_project(apollo).filter(kind="snapshot")
    documents = HISTORY.documents(apollo.pk, [snapshot.pk for snapshot in snapshots_of(apollo)]).now()
    assert {(e.ref, e.updated_at) for e in entries} == {(d.ref, d.at) for d in documents}
    last = Event.objects.in_project(apollo).order_by("-pk")[0]
    assert (last.verb, last.ref, last.agent) == ("imported", "hub:wakeiqx", None)
    assert last.data["note"] == "wakeiqx: 6 snapshots, 3 causes, 3 dependencies, 4 tags"
    assert Event.objects.in_project(apollo).filter(noun="snapshot", verb="created").count() == 6


def test_tags_keep_the_spelling_of_the_project(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take
) -> None:
    Tag.objects.create(project=apollo, name="OAuth", folded="oauth")
    snapshots.add(tags="oauth")
    take_snapshots()
    assert list(snapshots_of(apollo)[0].tags.values_list("name", flat=True)) == ["OAuth"]


def test_statements_do_not_grow_with_rows(apollo: Project, hermes: Project, tmp_path: Any) -> None:
    counts = []
    for count, project in ((2, "apollo"), (60, "hermes")):
        file = OldSnapshots(tmp_path / f"{count}.db")
        fill(file, count)
        with CaptureQueriesContext(connection) as queries:
            imported(file.close(), project=project, command="import_wakeiqx")
        counts.append(len(queries))
    assert counts[0] == counts[1] < 60


def test_other_projects_are_not_changed(
    apollo: Project, hermes: Project, snapshots: OldSnapshots, take_snapshots: Take
) -> None:
    fill(snapshots)
    before = dump_project(hermes)
    take_snapshots()
    assert dump_project(hermes) == before
    assert take_snapshots(project="hermes").is_new, "what apollo has, hermes has not"
    assert causes_of(hermes) == {"Cause 0": None, "Effect 0": "Cause 0"}
    [effect] = Snapshot.objects.in_project(hermes).exclude(caused_by=None)
    assert effect.caused_by is not None
    assert effect.caused_by.project_id == hermes.pk
