"""`manage.py import_wakeiqx` with random values, with many rows, and several times at once."""

import random
from pathlib import Path

import pytest

from ctxhub.core.models import Event, Project
from memory.snapshots.models import Snapshot, SnapshotDependency
from tests.importing.old_snapshots import OldSnapshots
from tests.importing.test_garbage import scatter
from tests.importing.test_wakeiqx_rows import fill
from tests.sqlew.importing import imported, imported_at_once
from tests.tables import dump_all

COMMAND = "import_wakeiqx"
LONG = 10_000


@pytest.mark.parametrize("seed", range(4))
def test_random_snapshots_are_imported_once(apollo: Project, tmp_path: Path, seed: int) -> None:
    file = OldSnapshots(tmp_path / "wakeiqx.db")
    scatter(file.connection, ("context_snapshots",) * 3, random.Random(seed))
    file.add("good", caused_by="id1", dependencies=["id2", "id3"])
    report = imported(file.close(), command=COMMAND)
    assert report.counts["snapshots"][0] >= 1
    before = dump_all()
    assert not imported(file.path, command=COMMAND).is_new
    assert dump_all() == before


@pytest.mark.one_engine
def test_a_chain_of_ten_thousand_is_imported(apollo: Project, tmp_path: Path) -> None:
    file = OldSnapshots(tmp_path / "wakeiqx.db")
    for n in range(LONG):
        file.add(f"s{n}", f"Step {n}", caused_by=f"s{n - 1}" if n else None, dependencies=["s0"])
    report = imported(file.close(), command=COMMAND)
    assert report.counts == {
        "snapshots": (LONG, 0, 0),
        "causes": (LONG - 1, 0, 0),
        "dependencies": (LONG - 1, 0, 1),
    }
    rows = Snapshot.objects.in_project(apollo).order_by("pk").values_list("pk", "caused_by")
    ids = [row_id for row_id, _ in rows]
    assert [cause for _, cause in rows] == [None, *ids[:-1]]
    assert SnapshotDependency.objects.in_project(apollo).filter(dependency=ids[0]).count() == LONG - 1


@pytest.mark.django_db(transaction=True)
def test_concurrent_imports_take_each_snapshot_once(apollo: Project, snapshots: OldSnapshots) -> None:
    fill(snapshots, 20)
    reports = imported_at_once(snapshots.close(), COMMAND)
    assert sorted(report.is_new for report in reports) == [False, False, True]
    assert Snapshot.objects.in_project(apollo).count() == 40
    assert SnapshotDependency.objects.in_project(apollo).count() == 20
    assert Event.objects.in_project(apollo).filter(verb="imported").count() == 1
