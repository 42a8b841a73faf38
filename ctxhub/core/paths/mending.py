"""Compares the stored patterns with the objects that have them, and mends them. Runs while others write."""

from collections.abc import Iterator, Mapping, Sequence

from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.paths.bearing import head_of
from ctxhub.core.paths.counts import objects_with_patterns, read_patterns
from ctxhub.core.paths.queries import nouns_with_paths
from ctxhub.core.paths.services import PatternChange, delete_patterns, write_patterns
from ctxhub.core.registry import Noun
from ctxhub.core.search.index_check import Fault, in_chunks, object_ids_of
from ctxhub.core.search.reindexing import Reindexed

MISSING = "without its path patterns"
DIFFERENT = "with other path patterns than its own"
LEFT_OVER = "gone, but with path patterns"


def find_pattern_faults(project_id: int) -> Iterator[Fault]:
    """The objects whose stored patterns are not their own. Writes nothing."""
    for noun, ids in _batches(project_id):
        if suspects := list(_compare(noun, project_id, ids)):
            # Again under the lock: a write may have been in progress.
            with write_transaction(project_id):
                wrong = _compare(noun, project_id, suspects)
                heads = noun.heads(project_id, list(wrong)) if noun.heads and wrong else {}
            for row_id, what in wrong.items():
                ref = heads[row_id].name if row_id in heads else f"{noun.kind}:{row_id}"
                yield Fault(project_id, what, str(ref))
    for kind, row_id in _of_unknown_kinds(project_id):
        yield Fault(project_id, LEFT_OVER, f"{kind}:{row_id}")


def mend_patterns(project_id: int) -> Reindexed:
    """Store the patterns of the objects whose stored ones are not their own; these are stale no more."""
    looked_at = mended = 0
    for noun, ids in _batches(project_id):
        looked_at += len(ids)
        if suspects := list(_compare(noun, project_id, ids)):
            with write_transaction(project_id):
                mended += _mend(noun, project_id, suspects)
    if unknown := _of_unknown_kinds(project_id):
        with write_transaction(project_id):
            for kind in dict.fromkeys(kind for kind, _ in unknown):
                delete_patterns(kind, [row_id for of_kind, row_id in unknown if of_kind == kind])
    return Reindexed("things that may have paths", looked_at + len(unknown), mended + len(unknown))


def _mend(noun: Noun, project_id: int, suspects: Sequence[int]) -> int:
    wrong = list(_compare(noun, project_id, suspects))
    delete_patterns(noun.kind, wrong)
    new = _expected(noun, project_id, wrong)
    write_patterns(project_id, noun.kind, [PatternChange(row_id, (), new[row_id]) for row_id in new])
    return len(wrong)


def _compare(noun: Noun, project_id: int, ids: Sequence[int]) -> dict[int, str]:
    """What is wrong with the patterns of these rows, by id; of those that are gone, that they are there."""
    expected, stored = _expected(noun, project_id, ids), read_patterns(project_id, noun.kind, ids)
    wrong = {}
    for row_id in ids:
        patterns = [(n, pattern, head_of(pattern)) for n, pattern in enumerate(expected.get(row_id, ()))]
        if patterns != (found := stored.get(row_id, [])):
            wrong[row_id] = MISSING if not found else DIFFERENT if row_id in expected else LEFT_OVER
    return wrong


def _expected(noun: Noun, project_id: int, ids: Sequence[int]) -> Mapping[int, Sequence[str]]:
    return noun.history.patterns_of(project_id, ids) if noun.history else {}


def _batches(project_id: int) -> Iterator[tuple[Noun, Sequence[int]]]:
    """All rows that may have patterns, and the ids of patterns without a row."""
    for kind, noun in nouns_with_paths().items():
        with_patterns = {row_id for _, row_id in objects_with_patterns(project_id, [kind])}
        for ids in object_ids_of(noun, project_id):
            with_patterns.difference_update(ids)
            yield noun, ids
        for left in in_chunks(sorted(with_patterns)):
            yield noun, left


def _of_unknown_kinds(project_id: int) -> list[tuple[str, int]]:
    known = nouns_with_paths()
    return [(kind, row_id) for kind, row_id in objects_with_patterns(project_id) if kind not in known]
