"""A leading `!` in the paths of decisions, constraints and memories: the last match of a file decides."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.models import PathPattern
from ctxhub.core.paths.bearing import bear_on, bearing_patterns
from ctxhub.core.text.globs import matches
from ctxhub.toolbox.dispatch import call
from tests.core.stale import change, counts, write_rows
from tests.hub import WHOLE, McpClient, RestClient
from tests.sessions.briefs import check
from tracking.changes.queries import files_of

GENERATED = ["src/**", "!src/gen/**", "src/gen/keep.py"]


@pytest.mark.parametrize(
    ("patterns", "path", "bears"),
    [
        (GENERATED, "src/a.py", True),
        (GENERATED, "src/gen/a.py", False),
        (GENERATED, "src/gen", False),
        (GENERATED, "src/gen/keep.py", True),
        (GENERATED, "lib/a.py", False),
        (GENERATED, "src/gen/*.py", True),
        (GENERATED, "src/gen/", True),
        (["src/**", "!src/gen"], "src/gen/a.py", True),
        (["**", "!*.md"], "README.md", False),
        (["**", "!*.md"], "docs/a.md", True),
        (["app/**", "!app/[id]/**"], "app/[id]/page.tsx", False),
        (["app/**", "!app/[id]/**"], "app/[slug]/page.tsx", True),
        (["src/**", "!src/gen/**", "src/**"], "src/gen/a.py", True),
        (["!src/**"], "src/a.py", False),
        ([""], "src/a.py", True),
        ([], "src/a.py", False),
    ],
)
def test_the_last_match_decides(patterns: list[str], path: str, bears: bool) -> None:
    assert bear_on(patterns, path) is bears


PIECES = st.lists(st.sampled_from(["a", "b", "*", "**", "a*"]), min_size=1, max_size=3).map("/".join)
LISTS = st.lists(st.tuples(st.booleans(), PIECES), max_size=4)
FILES = st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=3).map("/".join)


@given(LISTS, FILES, PIECES)
def test_a_list_agrees_with_a_simple_model(entries: list[tuple[bool, str]], file: str, glob: str) -> None:
    patterns = [f"{'!' if exempts else ''}{pattern}" for exempts, pattern in entries]
    decided = [not exempts for exempts, pattern in entries if matches(pattern, file)]
    assert bear_on(patterns, file) is bool(decided and decided[-1])
    # Never too little: if a glob is asked for that matches the file, what bears on the file is found.
    if matches(glob, file) and bear_on(patterns, file):
        assert bear_on(patterns, glob)
        assert bearing_patterns(patterns, [glob])


def write(caller: Caller, *paths: str) -> None:
    call(caller, "decision", {"action": "set", "key": "k", "value": "v", "paths": list(paths)})
    rule = {"action": "add", "category": "c", "layer": "data", "text": "Rule.", "paths": list(paths)}
    call(caller, "constraint", rule)


def refs(caller: Caller, *paths: str) -> set[str]:
    answer = check(caller, *paths)
    return {
        f"{row[0].partition(':')[0]} {row[-1]}"
        for section in ("constraints", "decisions")
        for row in answer.get(section, {"rows": []})["rows"]
    }


def test_check_leaves_out_what_exempts_the_file(ada: Caller, ben: Caller) -> None:
    write(ada, *GENERATED)
    assert refs(ben, "src/a.py") == {"constraint path src/**", "decision path src/**"}
    assert refs(ben, "src/gen/a.py") == set()
    assert refs(ben, "src/gen/keep.py") == {
        "constraint path src/gen/keep.py",
        "decision path src/gen/keep.py",
    }
    assert refs(ben, "src/gen/a.py", "src/a.py") == {"constraint path src/**", "decision path src/**"}
    assert len(refs(ben, "src/gen/*")) == 2


def test_an_exemption_of_one_object_exempts_no_other(ada: Caller, ben: Caller) -> None:
    write(ada, "src/**", "!src/gen/**")
    call(ada, "decision", {"action": "set", "key": "other", "value": "v", "paths": ["src/**"]})
    assert refs(ben, "src/gen/a.py") == {"decision path src/**"}


def test_a_brief_leaves_out_what_exempts_the_file_of_the_task(ada: Caller, ben: Caller) -> None:
    """Nor is it found by the words of what it exempts."""
    call(ada, "decision", {"action": "set", "key": "k", "value": "v", "paths": ["**", "!gen/**"]})
    for path, is_shown in {"gen/login.py": False, "src/login.py": True}.items():
        names = [section["name"] for section in call(ben, "brief", {"task": f"Mend {path}"})["sections"]]
        assert ("decisions" in names) is is_shown


def test_a_change_of_an_exempted_file_marks_nothing(ada: Caller, ben: Caller) -> None:
    write_rows(ada, GENERATED)
    change(ben, "src/gen/a.py")
    assert counts(ada) == {}
    change(ben, "src/gen/keep.py", "src/a.py")
    assert counts(ada) == {"decision": 2, "constraint": 2, "memory": 2}


def test_the_files_of_an_object_are_not_those_it_exempts(ada: Caller, ben: Caller) -> None:
    [ref, *_] = write_rows(ada, GENERATED)
    change(ben, "src/gen/a.py", "src/gen/keep.py", "src/a.py", "lib/a.py")
    assert len(files_of(ada.project_id, ref)) == 2


def test_an_exemption_is_stored_under_the_head_of_what_it_exempts(ada: Caller) -> None:
    write(ada, "src/**", r"!.\src\gen\{a,b}\*")
    rows = PathPattern.objects.in_project(ada.project_id).filter(kind="decision").order_by("position")
    assert list(rows.values_list("pattern", "head")) == [
        ("src/**", "src"),
        ("!src/gen/a/*", "src/gen/a"),
        ("!src/gen/b/*", "src/gen/b"),
    ]


@pytest.mark.parametrize("paths", [["!src/gen/**"], ["!a", "src/**"], ["{!a,b}"]])
def test_a_list_that_begins_with_an_exemption_is_refused(ada: Caller, paths: list[str]) -> None:
    with pytest.raises(InvalidInput, match="comes first and exempts nothing") as error:
        write(ada, *paths)
    assert '["**", "!' in error.value.hint


@pytest.mark.parametrize("path", ["!/etc", "!../a", "!", "! ", "!c:/a"])
def test_what_is_exempted_is_a_path_too(ada: Caller, path: str) -> None:
    with pytest.raises(InvalidInput):
        write(ada, "src/**", path)


def test_exemptions_over_mcp_and_rest(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    paths = ["src/**", "!src/gen/**"]
    note: dict[str, Any] = {"title": "t", "content": "c", "paths": paths}
    memory = ada_mcp.call("memory", "add", **note)["id"]
    assert ada_mcp.call("get", refs=[f"memory:{memory}"])["items"][0]["paths"] == paths
    rule = {"category": "c", "text": "x", "paths": paths}
    assert ada_rest.post("constraints/", rule, WHOLE).body["paths"] == paths
    assert ada_rest.post("check/", {"paths": ["src/gen/a.py"]}).body["constraints"] == []
    assert len(ada_mcp.call("check", paths=["src/a.py"])["constraints"]["rows"]) == 1
