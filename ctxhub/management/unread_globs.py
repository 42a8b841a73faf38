"""Tells of stored globs that are not read as they were meant: no migration can say what they are."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter

from django.db.models import Q

from ctxhub.core.kit import clock
from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.models import Project
from ctxhub.core.paths.counts import WrittenPattern, read_unusual_patterns
from ctxhub.core.paths.queries import nouns_with_paths
from ctxhub.core.text.braces import expand_braces
from ctxhub.core.text.glob_syntax import is_exempting, refuse_extended_glob
from tracking.files.rows import find_resources
from tracking.models import LeasePath

MOST_READ = 2_000
UNUSUAL = Q(pattern__contains="{") | Q(pattern__contains="(") | Q(pattern__startswith="!")


def find_unread_globs() -> Iterator[str]:
    """A sentence for each: in which project, of which object in force or live lease, and what to do."""
    slugs = dict(Project.objects.values_list("pk", "slug"))
    for project_id, patterns in groupby(read_unusual_patterns(MOST_READ), attrgetter("project_id")):
        for sentence in _of_objects(project_id, list(patterns)):
            yield f"project {slugs[project_id]}: {sentence}; set its paths again."
    live = LeasePath.unscoped.filter(UNUSUAL, lease__released_at=None, lease__expires_at__gt=clock.now())
    leased = live.order_by("project_id", "lease_id", "pk")[:MOST_READ]
    for project_id, paths in groupby(leased, attrgetter("project_id")):
        for sentence in _of_leases(project_id, list(paths)):
            yield f"project {slugs[project_id]}: {sentence}; lease what is meant."


def _of_objects(project_id: int, patterns: Sequence[WrittenPattern]) -> Iterator[str]:
    problems = _problems(project_id, [each.pattern for each in patterns])
    wrong = [
        each
        for each in patterns
        if each.pattern in problems and (each.is_first or not is_exempting(each.pattern))
    ]
    for kind, noun in nouns_with_paths().items():
        of_kind = [each for each in wrong if each.kind == kind]
        ids = [each.object_id for each in of_kind]
        heads = noun.heads(project_id, ids) if noun.heads and ids else {}
        for each in of_kind:
            ref = heads[each.object_id].name if each.object_id in heads else f"{kind}:{each.object_id}"
            yield f"{ref} {problems[each.pattern]}"


def _of_leases(project_id: int, paths: Sequence[LeasePath]) -> Iterator[str]:
    problems = _problems(project_id, [path.pattern for path in paths])
    return (f"lease:{path.lease_id} {problems[path.pattern]}" for path in paths if path.pattern in problems)


def _problems(project_id: int, patterns: Sequence[str]) -> Mapping[str, str]:
    """What is wrong with those patterns that no file is called."""
    unknown = set(patterns).difference(find_resources(project_id, patterns))
    return {pattern: problem for pattern in unknown if (problem := _problem(pattern))}


def _problem(pattern: str) -> str:
    named = f"has {shown(pattern)}, which matches only a file that is called so"
    try:
        refuse_extended_glob(pattern, "paths")
        if expand_braces(pattern) != [pattern]:
            return named
    except InvalidInput:
        return named
    return f"begins with {shown(pattern)}, which exempts nothing" if is_exempting(pattern) else ""
