"""The setting `ignore_case_in_paths`: SRC/A.py is src/a.py, in leases, checks, rules, filters and files."""

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps

from ctxhub.core.accounts import agents
from ctxhub.core.accounts.config import set_config
from ctxhub.core.kit.caller import Caller, Window
from ctxhub.core.models import PathPattern, Project
from ctxhub.core.paths.counting import count_changes
from ctxhub.toolbox.dispatch import call
from tests.hub import McpClient, RestClient
from tracking.models import LeasePath, Resource

pytestmark = pytest.mark.every_engine


@pytest.fixture
def ignoring(ada: Caller) -> None:
    set_config(caller=ada, values={"ignore_case_in_paths": True})


def lease(caller: Caller, *paths: str, **more: Any) -> dict[str, Any]:
    return call(caller, "file", {"action": "lease", "paths": list(paths), **more})


def record(caller: Caller, path: str) -> str:
    return str(call(caller, "file", {"action": "record", "path": path, "change": "modified"})["path"])


def files() -> list[str]:
    return sorted(Resource.unscoped.values_list("path", flat=True))


def is_clear(caller: Caller, *paths: str) -> bool:
    clear: bool = call(caller, "check", {"paths": list(paths)})["clear"]
    return clear


PAIRS = [
    ("SRC/A.py", "src/a.py"),
    ("Docs/**", "docs/X.md"),
    ("x/\u00c4.py", "X/\u00e4.PY"),
    ("*.PY", "b.py"),
    ("src/", "SRC/d/e.py"),
]


@pytest.mark.parametrize(("held", "asked"), PAIRS)
def test_a_lease_is_found_whatever_the_case(
    held: str, asked: str, ada_mcp: McpClient, ben_mcp: McpClient
) -> None:
    ben_mcp.call("file", "lease", paths=[held])
    for ignores in (False, True, False):
        ada_mcp.call("hub", "config_set", values={"ignore_case_in_paths": ignores})
        assert ada_mcp.call("check", paths=[asked])["clear"] is not ignores
        assert ada_mcp.call("file", "check_lock", path=asked)["locked"] is ignores
        assert ada_mcp.call("file", "leases", path=asked)["count"] == ignores
        tried = ada_mcp.call("file", "lease", paths=[asked], minutes=1)
        assert (tried.get("error") == "conflict") is ignores
        ada_mcp.call("file", "release", all=True)


@pytest.mark.usefixtures("ignoring")
def test_the_same_paths_in_another_case_extend_a_lease(ada: Caller) -> None:
    first = lease(ada, "src/A.py", "docs/**")
    again = lease(ada, "Docs/**", "SRC/a.py")
    assert (again["lease_id"], again["result"]) == (first["lease_id"], "extended")


def test_changes_are_found_whatever_the_case(ada: Caller, ben: Caller) -> None:
    record(ben, "Src/App.py")
    assert is_clear(ada, "src/app.py")
    set_config(caller=ada, values={"ignore_case_in_paths": True})
    assert not is_clear(ada, "src/app.py")
    assert not is_clear(ada, "SRC/**")
    assert call(ada, "file", {"action": "check_lock", "path": "SRC/APP.PY"})["by"] == "ben"
    for path in ("src/app.py", "SRC/*", "src/", "**/APP.py"):
        assert call(ada, "file", {"action": "changes", "path": path})["count"] == 1


def test_rules_hold_whatever_the_case(ada: Caller, ben: Caller) -> None:
    rule = {"action": "add", "category": "c", "text": "Typed.", "paths": ["UI/*.TSX", "!ui/Gen.tsx"]}
    added = call(ada, "constraint", rule)["id"]
    call(ada, "decision", {"action": "set", "key": "ui", "value": "v", "paths": ["Ui/Button.tsx"]})

    def found(*paths: str) -> Sequence[str]:
        answer = call(ben, "check", {"paths": list(paths)})
        return [
            row[0] for kind in ("constraints", "decisions") for row in answer.get(kind, {"rows": []})["rows"]
        ]

    assert found("ui/button.tsx") == []
    set_config(caller=ada, values={"ignore_case_in_paths": True})
    assert found("ui/button.tsx") == [f"constraint:{added}", "decision:ui"]
    assert found("UI/GEN.TSX") == []
    record(ben, "ui/BUTTON.tsx")
    count_changes(ada.project_id)
    stale = PathPattern.objects.in_project(ada.project_id).filter(stale__gt=0)
    assert set(stale.values_list("kind", flat=True)) == {"constraint", "decision"}


def test_nothing_is_stale_by_another_case_where_case_counts(ada: Caller, ben: Caller) -> None:
    call(ada, "decision", {"action": "set", "key": "ui", "value": "v", "paths": ["Ui/Button.tsx"]})
    record(ben, "ui/button.tsx")
    count_changes(ada.project_id)
    assert not PathPattern.objects.in_project(ada.project_id).filter(stale__gt=0).exists()


@pytest.mark.usefixtures("ignoring")
def test_a_file_is_one_row_in_its_first_spelling(ada: Caller, ben: Caller) -> None:
    assert record(ada, "src/New.py") == "src/New.py"
    assert record(ben, "SRC/new.py") == "src/New.py"
    call(ada, "session", {"action": "track", "path": "SRC/NEW.py", "access": "viewed"})
    call(ada, "session", {"action": "save", "files": [{"path": "Src/new.PY", "hash": "h"}]})
    call(ada, "session", {"action": "depend", "source": "SRC/new.py", "target": "lib.py", "type": "imports"})
    items = [{"path": path, "change": "modified"} for path in ("SRC/NEW.PY", "Lib.py")]
    call(ada, "file", {"action": "record_batch", "items": items})
    assert files() == ["lib.py", "src/New.py"]
    [found] = call(ada, "get", {"refs": ["resource:SRC/NEW.PY"]})["items"]
    assert found["path"] == "src/New.py"
    assert call(ada, "session", {"action": "accesses", "path": "src/new.py"})["total"] == 1
    assert call(ada, "session", {"action": "dependencies", "path": "LIB.py"})["count"] == 1


def test_rows_that_differ_by_case_stay_when_it_is_turned_on(ada: Caller, ben: Caller) -> None:
    record(ben, "lib/A.py")
    record(ben, "LIB/a.py")
    set_config(caller=ada, values={"ignore_case_in_paths": True})
    assert [record(ada, path) for path in ("lib/A.py", "LIB/a.py", "lib/a.py")] == [
        "lib/A.py",
        "LIB/a.py",
        "lib/A.py",
    ]
    assert call(ada, "file", {"action": "changes", "path": "lib/a.PY"})["count"] == 5
    assert files() == ["LIB/a.py", "lib/A.py"]


@pytest.mark.usefixtures("ignoring")
def test_exact_paths_ignore_case_too(ada: Caller, ben: Caller) -> None:
    lease(ben, "src/a.py")
    assert call(ada, "check", {"paths": ["SRC/A.py"], "exact": True})["clear"] is False


@pytest.mark.usefixtures("ignoring")
def test_another_project_goes_on_by_case(cy: Caller) -> None:
    assert [record(cy, path) for path in ("A.py", "a.py")] == ["A.py", "a.py"]


def test_over_rest(ada_rest: RestClient, ben_rest: RestClient, apollo: Project) -> None:
    Project.objects.filter(pk=apollo.pk).update(config={"ignore_case_in_paths": True})
    ben_rest.post("leases/", {"paths": ["SRC/A.py"]})
    ben_rest.post("changes/", {"path": "Src/B.py", "change": "created"})
    assert ada_rest.post("check/", {"paths": ["src/a.py"]}).body["clear"] is False
    assert ada_rest.get("changes/lock/", path="src/b.py").body["locked"] is True
    for address, path in (("leases/", "src/a.py"), ("changes/", "src/b.py"), ("resources/", "src/*.PY")):
        assert len(ada_rest.get(address, path=path).body["items"]) == 1


@pytest.mark.one_engine
def test_it_costs_no_statement_where_case_counts(ada: Caller, django_assert_max_num_queries: Any) -> None:
    def statements() -> list[str]:
        with django_assert_max_num_queries(60) as found:
            call(ada, "check", {"paths": ["src/a.py"]})
        return [each["sql"] for each in found.captured_queries]

    statements()
    plain = statements()
    assert not [each for each in plain if "SELECT folded, path" in each or "config" in each]
    set_config(caller=ada, values={"ignore_case_in_paths": True})
    assert len(statements()) == len(plain) + 1


@pytest.mark.one_engine
def test_a_process_on_stdio_hears_of_it_within_a_minute(ada: Caller, ben: Caller, apollo: Project) -> None:
    on_stdio = replace(ada, project=Project.objects.get(pk=apollo.pk), window=Window())
    lease(ben, "SRC/A.py")
    assert is_clear(on_stdio, "src/a.py")
    Project.objects.filter(pk=apollo.pk).update(config={"ignore_case_in_paths": True})
    agents._touched.clear()
    is_clear(on_stdio, "src/a.py")
    assert not is_clear(on_stdio, "src/a.py")


def test_what_was_stored_before_is_folded(ada: Caller) -> None:
    record(ada, "Src/A.py")
    lease(ada, "Src/**")
    call(ada, "decision", {"action": "set", "key": "k", "value": "v", "paths": ["Src/Api/*"]})
    Resource.unscoped.update(folded="")
    LeasePath.unscoped.update(head="Src")
    PathPattern.unscoped.update(head="Src/Api")
    import_module("tracking.migrations.0004_folded_paths").fold_stored(apps, None)
    import_module("ctxhub.core.migrations.0018_folded_heads").fold_heads(apps, None)
    assert Resource.unscoped.get().folded == "src/a.py"
    assert LeasePath.unscoped.get().head == "src"
    assert PathPattern.unscoped.get().head == "src/api"


def test_a_file_saved_by_the_orm_is_folded(apollo: Project) -> None:
    file = Resource(project=apollo, path="Src/A.py")
    assert file.folded == "src/a.py"
    file.save()
    file.path = "Lib/B.py"
    file.save(update_fields=["path"])
    assert Resource.unscoped.get().folded == "lib/b.py"
