"""Writes are prepared before they take the lock: what they read is compared under it, byte for byte."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from django.db import IntegrityError, connection

from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.kit.prepared import write_prepared
from ctxhub.core.kit.transactions import is_writing, write_transaction
from ctxhub.core.models import Event, Project, Tag
from ctxhub.toolbox.dispatch import call
from memory.decisions import services
from memory.decisions.services import set_decision
from memory.decisions.writing import prepare_decisions
from memory.models import Decision
from memory.scratchpads.queries import get_scratchpad
from memory.scratchpads.rows import WITH_CONTENT
from tests.search_index import index_is_right

pytestmark = [pytest.mark.every_engine, pytest.mark.django_db(transaction=True)]


def value_of(project: Project, key: str) -> str:
    return Decision.objects.in_project(project).get(key=key).value


def read_value(project_id: int) -> str:
    found = sql.rows("SELECT value FROM memory_decision WHERE project_id = %s", [project_id])
    return str(found[0][0])


def test_what_was_prepared_is_written_if_nothing_changed(ada: Caller) -> None:
    set_decision(caller=ada, key="k", value="old")
    prepared_in: list[bool] = []

    def prepare() -> str:
        prepared_in.append(is_writing())
        return read_value(ada.project_id)

    assert write_prepared(ada.project_id, prepare, str.upper) == "OLD"
    assert prepared_in == [False]


def test_it_is_prepared_again_under_the_lock_if_what_was_read_has_changed(ada: Caller, ben: Caller) -> None:
    set_decision(caller=ada, key="k", value="old")
    prepared_in: list[bool] = []

    def prepare() -> str:
        value = read_value(ada.project_id)
        if not prepared_in:
            set_decision(caller=ben, key="k", value="new")
        prepared_in.append(is_writing())
        return value

    assert write_prepared(ada.project_id, prepare, str.upper) == "NEW"
    assert prepared_in == [False, True]


def test_in_an_open_write_it_is_prepared_once(ada: Caller) -> None:
    prepared: list[bool] = []
    with write_transaction(ada.project_id):
        write_prepared(ada.project_id, lambda: prepared.append(is_writing()), lambda _: None)
    assert prepared == [True]


def test_an_error_is_told_of_the_state_under_the_lock(ada: Caller, ben: Caller) -> None:
    set_decision(caller=ada, key="k", value="old")

    def prepare() -> None:
        value = read_value(ada.project_id)
        if not is_writing():
            set_decision(caller=ben, key="k", value="new")
        raise Conflict(value)

    with pytest.raises(Conflict, match="new"):
        write_prepared(ada.project_id, prepare, lambda _: None)


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Do something once, between the preparation of the next decision and its lock."""

    def arrange(do: Callable[[], object]) -> None:
        waiting = [do]

        def prepare(*arguments: object) -> object:
            prepared = prepare_decisions(*arguments)  # type: ignore[arg-type]
            if waiting:
                waiting.pop()()
            return prepared

        monkeypatch.setattr(services, "prepare_decisions", prepare)

    return arrange


def test_a_decision_that_another_made_meanwhile_is_updated(
    ada: Caller, ben: Caller, meanwhile: Callable[[Callable[[], object]], None]
) -> None:
    meanwhile(partial(set_decision, caller=ben, key="k", value="ben's", tags=["kept"]))
    assert set_decision(caller=ada, key="k", value="ada's")["version"] == "1.0.1"
    decision = Decision.objects.in_project(ada.project).get()
    assert (decision.value, [tag.name for tag in decision.tags.all()]) == ("ada's", ["kept"])
    index_is_right(ada.project)


def test_a_decision_that_another_deleted_meanwhile_is_made_anew(
    ada: Caller, ben: Caller, meanwhile: Callable[[Callable[[], object]], None]
) -> None:
    set_decision(caller=ada, key="k", value="old")
    meanwhile(partial(services.delete_decision, caller=ben, key="k"))
    assert set_decision(caller=ada, key="k", value="new")["result"] == "created"
    assert value_of(ada.project, "k") == "new"


def test_a_tag_that_is_renamed_meanwhile_is_indexed_by_its_new_name(
    ada: Caller, meanwhile: Callable[[Callable[[], object]], None]
) -> None:
    set_decision(caller=ada, key="first", value="x", tags=["old"])

    def rename() -> None:
        tag = Tag.objects.in_project(ada.project).get(folded="old")
        tag.name = "OLD"
        tag.save()

    meanwhile(rename)
    set_decision(caller=ada, key="second", value="x", tags=["old"])
    assert [tag.name for tag in Decision.objects.in_project(ada.project).get(key="second").tags.all()] == [
        "OLD"
    ]
    index_is_right(ada.project)


def test_a_stale_expected_version_is_refused_under_the_lock(
    ada: Caller, ben: Caller, meanwhile: Callable[[Callable[[], object]], None]
) -> None:
    set_decision(caller=ada, key="k", value="old")
    meanwhile(partial(set_decision, caller=ben, key="k", value="new"))
    with pytest.raises(Conflict, match=r"at version 1\.0\.1"):
        set_decision(caller=ada, key="k", value="mine", expected_version="1.0.0")
    assert value_of(ada.project, "k") == "new"


def test_many_appenders_of_one_pad_lose_nothing(ada: Caller) -> None:
    workflow = call(ada, "scratchpad", {"action": "create_workflow", "name": "w"})["workflow_id"]
    made = call(ada, "scratchpad", {"action": "create", "workflow_id": workflow, "name": "p", "content": "0"})
    pad = {"scratchpad_id": made["scratchpad_id"]}

    def append(number: int) -> None:
        try:
            call(ada, "scratchpad", {"action": "append", **pad, "content": f"line{number}"})
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(append, range(40)))
    text = get_scratchpad(ada.project_id, made["scratchpad_id"], WITH_CONTENT).content
    assert sorted(text.split("\n\n")[1:]) == sorted(f"line{number}" for number in range(40))
    index_is_right(ada.project)


# -- Statements that wait for the next one, on PostgreSQL -----------------------------------------


def add_tag(project_id: int, name: str) -> None:
    sql.insert("core_tag", ("project_id", "name", "folded"), [(project_id, name, name)])


def test_what_waits_is_sent_before_a_statement_of_django(ada: Caller) -> None:
    with write_transaction(ada.project_id):
        add_tag(ada.project_id, "waits")
        assert Tag.objects.in_project(ada.project).filter(folded="waits").exists()


def test_what_waits_is_sent_before_the_end(ada: Caller) -> None:
    with write_transaction(ada.project_id):
        add_tag(ada.project_id, "waits")
    assert Tag.objects.in_project(ada.project).filter(folded="waits").exists()


def test_an_error_of_what_waits_undoes_all(ada: Caller) -> None:
    def add_it_twice() -> None:
        with write_transaction(ada.project_id):
            add_tag(ada.project_id, "waits")
            add_tag(ada.project_id, "waits")
            sql.rows("SELECT 1")

    with pytest.raises(IntegrityError):
        add_it_twice()
    assert not Tag.objects.in_project(ada.project).filter(folded="waits").exists()
    set_decision(caller=ada, key="k", value="x")
    assert Event.objects.in_project(ada.project).filter(ref="decision:k").exists()
