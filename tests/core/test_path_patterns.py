"""The globs of decisions, constraints and memories in one table, and how they are found by a path."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import PathPattern
from ctxhub.core.paths.bearing import bears_on, head_of, heads_above
from ctxhub.core.paths.queries import find_bearings
from ctxhub.core.text.globs import is_glob, matches, overlap
from ctxhub.toolbox.dispatch import call
from memory.models import Constraint, Decision

pytestmark = pytest.mark.django_db

SEGMENTS = st.sampled_from(["src", "api", "a*", "*", "**", "[id].tsx", "x?.py", "日本", "b.py"])
PATTERNS = st.lists(SEGMENTS, min_size=1, max_size=4).map("/".join)
PATHS = st.lists(st.sampled_from(["src", "api", "ab", "x1.py", "日本", "b.py"]), min_size=1, max_size=4).map(
    "/".join
)


@pytest.mark.parametrize(
    ("pattern", "head"),
    [
        ("src/api/*.py", "src/api"),
        ("src/api/", "src/api"),
        ("src/api.py", "src/api.py"),
        ("**/*.py", ""),
        ("", ""),
        ("app/[id]/page.tsx", "app"),
        ("a" * 150 + "/" + "b" * 100 + "/c", "a" * 150),
    ],
)
def test_the_head_ends_before_the_first_wildcard(pattern: str, head: str) -> None:
    assert head_of(pattern) == head


@given(PATTERNS, PATHS)
@example("src/**", "src")
@example("src/", "src")
@example("src/**", "srcs/api")
def test_a_pattern_bears_on_what_it_matches(pattern: str, path: str) -> None:
    expected = matches(pattern, path) if is_glob(pattern) else pattern == path
    assert bears_on(pattern, path) is expected
    if expected:
        assert head_of(pattern) in heads_above(head_of(path))


@given(PATTERNS, PATTERNS)
def test_a_glob_bears_on_what_it_overlaps(pattern: str, path: str) -> None:
    if is_glob(path):
        assert bears_on(pattern, path) is (pattern == path or overlap(pattern, path))


def stored(kind: str) -> list[tuple[str, str]]:
    rows = PathPattern.unscoped.filter(kind=kind).order_by("object_id", "position")
    return list(rows.values_list("pattern", "head"))


def found(caller: Caller, *paths: str) -> list[tuple[str, str]]:
    bearings = find_bearings(caller.project_id, paths, ["decision", "constraint", "memory"])
    return [(each.kind, each.pattern) for each in bearings]


def test_the_patterns_of_a_decision_follow_its_paths(ada: Caller) -> None:
    call(ada, "decision", {"action": "set", "key": "k", "value": "v", "paths": ["src/api/**", "*.md"]})
    assert stored("decision") == [("src/api/**", "src/api"), ("*.md", "")]
    call(ada, "decision", {"action": "set", "key": "k", "value": "v", "paths": ["docs/"]})
    assert stored("decision") == [("docs/", "docs")]
    call(ada, "decision", {"action": "deprecate", "key": "k"})
    assert stored("decision") == []
    call(ada, "decision", {"action": "set", "key": "k", "value": "v", "status": "active"})
    assert stored("decision") == [("docs/", "docs")]
    call(ada, "delete", {"refs": ["decision:k"]})
    assert stored("decision") == []


def test_a_write_through_the_orm_stores_patterns(ada: Caller) -> None:
    call(ada, "decision", {"action": "set", "key": "k", "value": "v", "paths": ["src/**"]})
    decision = Decision.objects.in_project(ada.project_id).get()
    decision.paths = ["lib/**"]
    decision.save()
    assert stored("decision") == [("lib/**", "lib")]
    decision.delete()
    assert stored("decision") == []


def test_a_constraint_of_no_place_holds_everywhere(ada: Caller) -> None:
    call(ada, "constraint", {"action": "add", "category": "security", "text": "No secrets in logs."})
    call(ada, "constraint", {"action": "add", "category": "security", "text": "x", "scopes": ["api"]})
    assert stored("constraint") == [("", "")]
    assert found(ada, "any/file.py") == [("constraint", "")]
    Constraint.objects.in_project(ada.project_id).get(scopes=None).delete()
    assert stored("constraint") == []


def test_deleting_a_context_forgets_the_patterns_of_its_memories(ada: Caller) -> None:
    call(ada, "memory", {"action": "add", "context": "shop", "title": "t", "content": "c", "paths": ["a/**"]})
    assert found(ada, "a/b.py") == [("memory", "a/**")]
    call(ada, "delete", {"refs": ["context:shop"]})
    assert stored("memory") == []


@pytest.mark.parametrize(
    ("path", "patterns"),
    [
        ("src/api/users.py", {"src/api/**", "**/*.py", "src/api/users.py", "src/"}),
        ("src/api", {"src/", "src/api/**"}),
        ("src/**", {"src/api/**", "**/*.py", "src/api/users.py", "src/"}),
        ("**", {"src/api/**", "**/*.py", "src/api/users.py", "src/", "docs/*.md"}),
        ("docs/guide.md", {"docs/*.md"}),
        ("srcs/api.md", set()),
    ],
)
def test_patterns_are_found_by_path_and_by_glob(ada: Caller, path: str, patterns: set[str]) -> None:
    for number, pattern in enumerate(["src/api/**", "**/*.py", "src/api/users.py", "src/", "docs/*.md"]):
        call(ada, "decision", {"action": "set", "key": f"k{number}", "value": "v", "paths": [pattern]})
    assert {pattern for _, pattern in found(ada, path)} == patterns


def test_the_patterns_of_another_project_are_not_found(ada: Caller, cy: Caller) -> None:
    call(cy, "decision", {"action": "set", "key": "k", "value": "v", "paths": ["src/**"]})
    assert found(ada, "src/a.py") == []


def test_more_globs_than_conditions_are_found(ada: Caller) -> None:
    """Of thousands of globs, as braces make them, the database reads one range."""
    patterns = ["src/api/**", "a0/b/c.py", "a63/x", "**/*.md", "lib/a.py", "a"]
    for number, pattern in enumerate(patterns):
        call(ada, "decision", {"action": "set", "key": f"k{number}", "value": "v", "paths": [pattern]})
    many = [f"a{n}/b/*.py" for n in range(3_000)]
    assert {pattern for _, pattern in found(ada, *many)} == {"a0/b/c.py"}
    assert {pattern for _, pattern in found(ada, *many, "a63/*")} == {"a0/b/c.py", "a63/x", "**/*.md"}
    below = [f"src/api/{n}/*" for n in range(3_000)]
    assert {pattern for _, pattern in found(ada, *below)} == {"src/api/**", "**/*.md"}
    both = {pattern for _, pattern in found(ada, *below, "*/a.py")}
    assert both == {"src/api/**", "**/*.md", "lib/a.py"}
