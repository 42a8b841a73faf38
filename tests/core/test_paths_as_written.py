"""Paths as models write them, in every argument that is one: each form works or is refused, none is void."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pytest import Subtests  # noqa: PT013  # A name for a type.
from pytest_django import Settings

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.models import PathPattern
from ctxhub.toolbox.actions import Action, all_tools
from ctxhub.toolbox.dispatch import call
from memory.models import DecisionTemplate, Memory
from tests.databases import rolled_back
from tests.hub import WHOLE, McpClient, RestClient
from tracking.models import LeasePath, Resource

FILE = "src/a.py"
SAME = [
    *("src/a.py:42", "src/a.py:12:3", "src/a.py:12-20", "src/a.py#L10", "src/a.py#L1-L2", "./src/a.py"),
    *("`src/a.py`", "'src/a.py'", '"src/a.py"', "@src/a.py", "[a.py](src/a.py)", "src\\a.py", "['src/a.py']"),
    *('["src/a.py"]', '"[\\"src/a.py\\"]"', "src/a.py,", "`@./src/a.py:42`"),
]
REFUSED = [
    *("file:///home/u/repo/src/a.py", "vscode://file/src/a.py", "https://x.org/src/a.py", "/src/a.py"),
    *("C:\\src\\a.py", "\\\\server\\src\\a.py", "~/src/a.py", "$HOME/src/a.py", "${PWD}/src/a.py"),
    *("src/a.py src/b.py", "'src/a.py", "['src/a.py', b", "../src/a.py"),
]
SEVERAL = ["src/a.py, src/b.py", "src/a.py;src/b.py", "src/a.py\nsrc/b.py", "['src/a.py', 'src/b.py']"]

Given = Callable[[str], dict[str, Any]]

# By operation and argument: a call with this path in it.
CALLS: dict[tuple[str, str], Given] = {
    ("check", "paths"): lambda path: {"paths": [path]},
    ("constraint.add", "paths"): lambda path: {"category": "c", "text": "t", "paths": [path]},
    ("decision.set", "paths"): lambda path: {"key": "k", "value": "v", "paths": [path]},
    ("decision.set_batch", "items"): lambda path: {"items": [{"key": "k", "value": "v", "paths": [path]}]},
    ("decision.template_set", "defaults"): lambda path: {"name": "t", "defaults": {"paths": [path]}},
    ("decision.from_template", "paths"): lambda path: {
        "name": "mine",
        "key": "k",
        "value": "v",
        "paths": [path],
    },
    ("file.changes", "path"): lambda path: {"path": path},
    ("file.check_lock", "path"): lambda path: {"path": path},
    ("file.lease", "paths"): lambda path: {"paths": [path], "exclusive": False},
    ("file.leases", "path"): lambda path: {"path": path},
    ("file.record", "path"): lambda path: {"path": path, "change": "modified"},
    ("file.record_batch", "items"): lambda path: {"items": [{"path": path, "change": "modified"}]},
    ("memory.add", "paths"): lambda path: {"title": "t", "content": "c", "paths": [path]},
    ("memory.grep", "glob"): lambda path: {"pattern": "x", "glob": path},
    ("memory.grep", "path"): lambda path: {"pattern": "x", "path": path},
    ("memory.update", "paths"): lambda path: {"id": newest_memory(), "paths": [path]},
    ("session.accesses", "path"): lambda path: {"path": path},
    ("session.depend", "source"): lambda path: {"source": path, "target": "src/b.py", "type": "imports"},
    ("session.depend", "target"): lambda path: {"source": "src/b.py", "target": path, "type": "imports"},
    ("session.dependencies", "path"): lambda path: {"path": path},
    ("session.restore", "files"): lambda path: {"files": [{"path": path, "hash": "h"}]},
    ("session.save", "files"): lambda path: {"files": [{"path": path, "hash": "h"}]},
    ("session.track", "path"): lambda path: {"path": path, "access": "viewed"},
}

# They find what the agent itself has leased: the tests of leases read their forms.
OF_OWN_LEASES = {("file.release", "paths")}


def newest_memory() -> int:
    return Memory.unscoped.latest("pk").pk


# Those of a single path refuse several.
OF_LISTS = {key for key in CALLS if key[1] == "paths"} | {
    ("decision.set_batch", "items"),
    ("decision.template_set", "defaults"),
}


@pytest.fixture
def written(ada: Caller, ben: Caller, settings: Settings, tmp_path: Path) -> None:
    """What reads find: the file is leased, recorded, tracked and saved, and has a dependency."""
    (tmp_path / "src").mkdir()
    for name in ("a.py", "z.py"):
        (tmp_path / "src" / name).write_text("x = 1\n")
    settings.GREP_ROOTS = [("", tmp_path)]
    call(ben, "file", {"action": "lease", "paths": [FILE], "exclusive": False})
    for path in (FILE, "src/b.py"):
        call(ben, "file", {"action": "record", "path": path, "change": "modified"})
    call(ada, "session", {"action": "track", "path": FILE, "access": "viewed"})
    call(ada, "session", {"action": "save", "files": [{"path": FILE, "hash": "h"}]})
    call(ada, "session", {"action": "depend", "source": FILE, "target": "src/c.py", "type": "imports"})
    call(ada, "memory", {"action": "add", "title": "t", "content": "About the basket.", "context": "c"})
    call(ada, "decision", {"action": "template_set", "name": "mine"})
    call(ada, "constraint", {"action": "add", "category": "c", "text": "Typed.", "paths": [FILE]})


def operations() -> list[Action]:
    return [action for tool in all_tools().values() for action in tool.actions.values()]


def stored() -> dict[str, list[str]]:
    defaults = DecisionTemplate.unscoped.values_list("defaults", flat=True)
    return {
        "files": sorted(Resource.unscoped.values_list("path", flat=True)),
        "leased": sorted(LeasePath.unscoped.values_list("pattern", flat=True)),
        "patterns": sorted(PathPattern.unscoped.values_list("pattern", flat=True)),
        "templates": sorted(path for each in defaults for path in each.get("paths", ())),
    }


def outcome(caller: Caller, operation: str, arguments: Mapping[str, Any]) -> Any:
    """What is stored after a write, or the answer of a read."""
    tool, _, name = operation.partition(".")
    action = all_tools()[tool].actions[name]
    with rolled_back():
        answer = call(caller, tool, {**({"action": name} if name else {}), **arguments})
        if name == "restore":
            return answer["files"]
        return stored() if action.writes else answer


def test_every_argument_that_is_a_path_is_walked() -> None:
    marked = {(action.call, a.name) for action in operations() for a in action.arguments.all if a.names_files}
    assert marked == set(CALLS) | OF_OWN_LEASES


def test_every_argument_that_sounds_like_a_path_is_marked() -> None:
    sounding = {
        (action.call, argument.name)
        for action in operations()
        for argument in action.arguments.all
        if any(word in argument.name for word in ("path", "file", "glob"))
    }
    assert sounding <= set(CALLS) | OF_OWN_LEASES


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize("key", sorted(CALLS), ids=":".join)
def test_each_form_of_a_path_means_the_path(key: tuple[str, str], ada: Caller, subtests: Subtests) -> None:
    operation, given = key[0], CALLS[key]
    plain = outcome(ada, operation, given(FILE))
    assert outcome(ada, operation, given("src/z.py")) != plain, "The test sees no difference."
    for form in SAME:
        with subtests.test(form=form):
            assert outcome(ada, operation, given(form)) == plain


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize("key", sorted(CALLS), ids=":".join)
def test_what_is_no_path_of_the_repository_is_refused(
    key: tuple[str, str], ada: Caller, subtests: Subtests
) -> None:
    for form in REFUSED if key in OF_LISTS else [*REFUSED, *SEVERAL]:
        with subtests.test(form=form), pytest.raises(InvalidInput) as refused:
            outcome(ada, key[0], CALLS[key](form))
        assert form == "../src/a.py" or refused.value.hint


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize("key", sorted(OF_LISTS), ids=":".join)
def test_a_text_that_names_several_paths_is_a_list(
    key: tuple[str, str], ada: Caller, subtests: Subtests
) -> None:
    def of(*paths: str) -> dict[str, Any]:
        arguments: dict[str, Any] = _with(CALLS[key]("PATH"), list(paths))
        return arguments

    listed = outcome(ada, key[0], of(FILE, "src/b.py"))
    assert listed != outcome(ada, key[0], of(FILE, "src/z.py"))
    for text in SEVERAL:
        with subtests.test(text=text):
            assert outcome(ada, key[0], of(text)).get("hint", "")[:7] in ("", "Read as")
            assert _without_hint(outcome(ada, key[0], of(text))) == listed


def _with(value: Any, paths: list[str]) -> Any:
    """The arguments with these paths where they have one."""
    if value == ["PATH"]:
        return paths
    if isinstance(value, dict):
        return {name: _with(inner, paths) for name, inner in value.items()}
    return [_with(inner, paths) for inner in value] if isinstance(value, list) else value


def _without_hint(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name != "hint"}


# -- Known names -----------------------------------------------------------------------------------

ODD = [
    "src/a.py:42",
    "src/a.py#L1",
    "`a`.txt`",
    "@types/x.ts",
    "a,b.txt",
    "a.py b.py",
    "'a'",
    "x;y",
    "[a](b.py)",
]


@pytest.mark.parametrize("name", [name for name in ODD if name != "`a`.txt`"])
def test_a_lease_on_the_very_name_is_found_by_it(name: str, ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    assert "hint" not in ben_mcp.call("file", "lease", paths=[name], exact=True)
    for paths in ([name], name):
        found = ada_mcp.call("check", paths=paths)
        assert (found["clear"], found.get("hint")) == (False, None)
    assert ada_mcp.call("file", "lease", paths=[name])["error"] == "conflict"
    assert ada_mcp.call("file", "check_lock", path=name)["locked"] is True


@pytest.mark.parametrize("write", ["record", "pattern"])
def test_a_recorded_or_stored_name_stays(write: str, ada: Caller) -> None:
    for name in ODD:
        if write == "record":
            call(ada, "file", {"action": "record", "path": name, "change": "created", "exact": True})
        else:
            arguments = {"key": name, "value": "v", "paths": [name], "exact": True}
            call(ada, "decision", {"action": "set", **arguments})
    for name in ODD:
        answer = call(ada, "file", {"action": "record", "path": name, "change": "modified"})
        assert answer["path"] == name


@pytest.mark.parametrize("name", ["src/{a,b}.py", "!note.md", "a+(old).c"])
def test_a_known_name_with_the_signs_of_a_glob_is_that_file(name: str, ada: Caller, ben: Caller) -> None:
    call(ben, "file", {"action": "record", "path": name, "change": "created"})
    call(ben, "file", {"action": "lease", "paths": [name]})
    assert LeasePath.unscoped.get().pattern == name
    assert call(ada, "check", {"paths": [name]})["clear"] is False
    assert call(ada, "file", {"action": "changes", "path": name})["count"] == 1


def test_a_name_of_another_project_is_not_known(ada: Caller, cy: Caller) -> None:
    call(cy, "file", {"action": "record", "path": "src/a.py:42", "change": "created", "exact": True})
    assert (
        call(ada, "file", {"action": "record", "path": "src/a.py:42", "change": "modified"})["path"] == FILE
    )


def test_an_ended_lease_makes_no_name_known(ada: Caller) -> None:
    lease = call(ada, "file", {"action": "lease", "paths": ["x.py:1"], "exact": True})
    call(ada, "file", {"action": "release", "lease_id": lease["lease_id"]})
    call(ada, "file", {"action": "lease", "paths": ["x.py:1"]})
    assert sorted(LeasePath.unscoped.values_list("pattern", flat=True)) == ["x.py", "x.py:1"]


def test_exact_takes_a_name_as_it_is_and_refuses_an_absolute_path(
    ada_mcp: McpClient, ben_mcp: McpClient
) -> None:
    ben_mcp.call("file", "lease", paths=[FILE])
    for name in (
        "src/a.py:42",
        "`src/a.py`",
        "@src/a.py",
        "src/a.py, src/b.py",
        "~/src/a.py",
        "src/{a,b}.py",
    ):
        assert ada_mcp.call("check", paths=[name], exact=True)["clear"] is True
    for name in ("/src/a.py", "C:\\a.py", "\\\\server\\a.py", "../a.py"):
        assert ada_mcp.call("check", paths=[name], exact=True)["error"] == "invalid"


@pytest.mark.parametrize(
    ("value", "is_exact"), [(True, True), ("true", True), ("1", True), (False, False), ("false", False)]
)
def test_exact_may_be_said_as_text(value: object, is_exact: bool, ada: Caller) -> None:
    arguments = {"action": "record", "path": "src/a.py:42", "change": "created", "exact": value}
    assert call(ada, "file", arguments)["path"] == ("src/a.py:42" if is_exact else FILE)


def test_exact_is_refused_where_it_means_nothing(ada: Caller) -> None:
    with pytest.raises(InvalidInput, match="true or false"):
        call(ada, "check", {"paths": [FILE], "exact": "maybe"})
    with pytest.raises(InvalidInput, match="no argument 'exact'"):
        call(ada, "decision", {"action": "get", "key": "k", "exact": True})


def test_what_may_be_a_name_is_told(ada_mcp: McpClient) -> None:
    lease = ada_mcp.call("file", "lease", paths=["@types/x.ts", "a,b.txt", "src/a.py:42"])
    assert lease["hint"] == "Read as 'a' and 'b.txt', 'types/x.ts': exact:true takes a name as it is written."
    assert "Read as 'other/x.ts'" in ada_mcp.call("check", paths=["@other/x.ts"])["hint"]
    assert "hint" not in ada_mcp.call("check", paths="src/a.py, src/b.py")
    assert "hint" not in ada_mcp.call("check", paths=["@types/x.ts"]), "It is known as types/x.ts now."


# -- Over REST -------------------------------------------------------------------------------------


def test_each_form_means_the_path_over_rest(
    ada_rest: RestClient, ben_rest: RestClient, subtests: Subtests
) -> None:
    ben_rest.post("leases/", {"paths": [FILE]})
    ben_rest.post("changes/", {"path": "`src/a.py`", "change": "created"})
    for form in SAME:
        with subtests.test(form=form):
            assert ada_rest.post("check/", {"paths": [form]}).body["clear"] is False
            assert ada_rest.post("check/", {"paths": form}).body["clear"] is False
            assert ada_rest.get("check/", paths=form).body["clear"] is False
            assert ada_rest.post("leases/", {"paths": [form]}).status == 409
            for address in ("leases/", "changes/", "resources/"):
                assert ada_rest.get(address, path=form).body["items"]
            assert ada_rest.get("changes/lock/", path=form).body["locked"] is True
            assert ada_rest.post("accesses/", {"path": form, "access": "viewed"}).body["path"] == FILE
            item = {"path": form, "change": "modified"}
            assert ada_rest.post("changes/batch/", {"items": [item]}).body["results"][0]["path"] == FILE


def test_what_is_no_path_is_refused_over_rest(ada_rest: RestClient, subtests: Subtests) -> None:
    for form in REFUSED:
        with subtests.test(form=form):
            assert ada_rest.post("check/", {"paths": [form]}).status == 400
            assert ada_rest.get("check/", paths=form).status == 400
            assert ada_rest.get("changes/", path=form).status == 400
            assert ada_rest.post("decisions/", {"key": "k", "value": "v", "paths": [form]}).status == 400


def test_exact_over_rest(ada_rest: RestClient, ben_rest: RestClient) -> None:
    lease = ben_rest.post("leases/", {"paths": ["src/a.py:42", "a,b.txt"], "exact": True}, WHOLE)
    assert lease.body["paths"] == ["a,b.txt", "src/a.py:42"]
    for name in ("src/a.py:42", "a,b.txt"):
        assert ada_rest.get("check/", paths=name).body["clear"] is False
        assert len(ada_rest.get("leases/", path=name).body["items"]) == 1
    assert ada_rest.get("check/", paths="src/a.py:43", exact="true").body["clear"] is True
    assert ada_rest.get("changes/", path="src/a.py:42", exact="perhaps").status == 400
    saved = ada_rest.post("sessions/", {"files": [{"path": "x.py:1", "hash": "h"}], "exact": True})
    assert (saved.status, Resource.unscoped.filter(path="x.py:1").count()) == (201, 1)


def test_exact_belongs_to_a_batch_and_not_to_its_items(ada_rest: RestClient) -> None:
    item = {"path": "x.py:1", "change": "created"}
    batch = ada_rest.post("changes/batch/", {"items": [item], "exact": True})
    assert batch.body["results"][0]["path"] == "x.py:1"
    assert ada_rest.post("changes/batch/", {"items": [{**item, "exact": True}]}).status == 400


# -- Statements ------------------------------------------------------------------------------------


def test_a_text_of_many_paths_is_refused_before_they_are_looked_up(
    ada: Caller, django_assert_max_num_queries: Any
) -> None:
    text = ", ".join(f"f{n}.py:1" for n in range(20_000))
    with django_assert_max_num_queries(20) as found, pytest.raises(InvalidInput, match="the limit is 50"):
        call(ada, "check", {"paths": text})
    assert not [each for each in found.captured_queries if _looks_up(each["sql"])]


def _looks_up(statement: str) -> bool:
    return "core_pathpattern" in statement and "UNION" in statement


@pytest.mark.parametrize(
    ("count", "form", "looked_up"), [(50, "f{}.py", 0), (1, "f{}.py:1", 1), (50, "f{}.py:1", 1)]
)
def test_names_are_looked_up_at_once_and_only_if_they_may_be_more(
    count: int, form: str, looked_up: int, ada: Caller, subtests: Subtests, django_assert_max_num_queries: Any
) -> None:
    paths = [form.format(n) for n in range(count)]
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "check": ("check", {"paths": paths}),
        "lease": ("file", {"action": "lease", "paths": paths}),
        "records": (
            "file",
            {"action": "record_batch", "items": [{"path": p, "change": "created"} for p in paths]},
        ),
        "save": ("session", {"action": "save", "files": [{"path": path, "hash": "h"} for path in paths]}),
        "decision": ("decision", {"action": "set", "key": "k", "value": "v", "paths": paths}),
        "decisions": (
            "decision",
            {"action": "set_batch", "items": [{"key": p, "value": "v", "paths": [p]} for p in paths]},
        ),
        "get": ("get", {"refs": [f"resource:{path}" for path in paths]}),
    }
    for name, (tool, arguments) in calls.items():
        with subtests.test(name), rolled_back(), django_assert_max_num_queries(60) as found:
            call(ada, tool, arguments)
        assert len([each for each in found.captured_queries if _looks_up(each["sql"])]) == looked_up
