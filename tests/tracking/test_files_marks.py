"""The mark of a file: its importance, set by somebody."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotFound
from ctxhub.core.models import Event
from tracking.changes.services import record_change
from tracking.files.queries import open_resources
from tracking.files.services import mark_files
from tracking.models import Resource

APP, DOCS = "src/app.py", "docs/x.md"


@pytest.fixture(autouse=True)
def files(ada: Caller) -> None:
    for path in (APP, DOCS):
        record_change(caller=ada, path=path, change="modified", layer="data")


def marks(caller: Caller) -> dict[str, int | None]:
    return dict(Resource.objects.in_project(caller.project).values_list("path", "mark"))


def events(caller: Caller) -> list[tuple[str, str, dict[str, object]]]:
    found = Event.objects.in_project(caller.project).filter(noun="resource").order_by("pk")
    return list(found.values_list("verb", "ref", "data"))


@pytest.mark.parametrize("mark", [0, 80, 100])
def test_a_mark_replaces_the_computed_importance(mark: int, ada: Caller) -> None:
    assert mark_files(caller=ada, paths=[APP], importance=mark) == 1
    assert open_resources(ada.project_id, [APP], full=True)[APP]["importance"] == mark
    assert marks(ada) == {APP: mark, DOCS: None}


def test_without_a_mark_the_importance_is_computed_again(ada: Caller) -> None:
    mark_files(caller=ada, paths=[APP], importance=80)
    mark_files(caller=ada, paths=[APP], importance=None)
    assert open_resources(ada.project_id, [APP], full=True)[APP]["importance_parts"] == {"type": 5.0}


def test_each_change_of_a_mark_is_in_the_log(ada: Caller, ben: Caller) -> None:
    mark_files(caller=ben, paths=[APP], importance=80)
    mark_files(caller=ben, paths=[APP], importance=None)
    ref, changed = f"resource:{APP}", ["importance"]
    assert events(ada) == [
        ("updated", ref, {"changed": changed, "note": "80"}),
        ("updated", ref, {"changed": changed, "note": "computed"}),
    ]
    assert str(Event.objects.in_project(ada.project).latest("pk").agent) == "ben"


def test_a_mark_that_is_set_already_writes_nothing(ada: Caller) -> None:
    mark_files(caller=ada, paths=[APP], importance=80)
    assert mark_files(caller=ada, paths=[APP, DOCS, APP], importance=80) == 1
    assert mark_files(caller=ada, paths=[APP, DOCS], importance=80) == 0
    assert len(events(ada)) == 2


@pytest.mark.parametrize("mark", [-1, 101])
def test_a_mark_is_between_0_and_100(mark: int, ada: Caller) -> None:
    with pytest.raises(InvalidInput, match="importance"):
        mark_files(caller=ada, paths=[APP], importance=mark)


def test_with_an_unknown_file_nothing_is_marked(ada: Caller) -> None:
    with pytest.raises(NotFound, match=r"src/none\.py"):
        mark_files(caller=ada, paths=[APP, "src/none.py"], importance=80)
    assert marks(ada) == {APP: None, DOCS: None}


def test_a_file_of_another_project_is_unknown(cy: Caller, ada: Caller) -> None:
    with pytest.raises(NotFound):
        mark_files(caller=cy, paths=[APP], importance=80)
    assert marks(ada) == {APP: None, DOCS: None}


def test_many_files_are_marked_by_as_many_statements_as_one(ada: Caller) -> None:
    for n in range(30):
        record_change(caller=ada, path=f"f{n}.py", change="created", layer="data")

    def statements(paths: list[str], mark: int) -> int:
        with CaptureQueriesContext(connection) as captured:
            mark_files(caller=ada, paths=paths, importance=mark)
        return len(captured)

    statements([APP], 1)
    assert statements([f"f{n}.py" for n in range(30)], 2) == statements([APP], 2)
