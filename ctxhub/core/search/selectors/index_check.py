"""Checks the index: compares entries with the objects they were made of, read again."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.registry import Noun, indexed_nouns
from ctxhub.core.search.documents import Document, known_words, passages, scope_words
from ctxhub.core.search.selectors.index_rows import (
    Entry,
    entries_of_unknown_kinds,
    entries_without_object,
    in_chunks,
    known_words_among,
    objects_without_entry,
    orphan_passages,
    orphan_words,
    read_documents,
    read_entries,
    sample_entries,
    words_of_entries,
)
from ctxhub.core.search.stems import stem

SAMPLE = 1_000
ALL = 2**62

MISSING = "not in the index"
DIFFERENT = "in the index as it is no more"
LEFT_OVER = "in the index, but gone"
PASSAGE = "a passage of nothing"
VOCABULARY = "in the vocabulary with other words than its own"
WORD = "a word of nothing"


@frozen
class Fault:
    """A difference between the index and an object (`ref`), a passage (its id) or a word; `what` names it."""

    project_id: int
    what: str
    ref: str


@frozen
class Comparison:
    """The current documents of some objects, and by object id the faults of those that differ."""

    documents: Sequence[Document]
    faults: Mapping[int, Fault]


def compare(noun: Noun, project_id: int, object_ids: Sequence[int]) -> Comparison:
    """Compare objects with their entries, word by word; deleted objects must have none."""
    documents = read_documents(noun, project_id, object_ids)
    entries = read_entries(project_id, noun.kind, object_ids)
    with_wrong_words = _objects_with_wrong_words(project_id, documents, entries)
    faults = {}
    for document in documents:
        problem = _problem(project_id, noun.kind, document, entries.pop(document.object_id, None))
        if problem or document.object_id in with_wrong_words:
            faults[document.object_id] = Fault(project_id, problem or VOCABULARY, document.ref)
    leftovers = {object_id: Fault(project_id, LEFT_OVER, entry.ref) for object_id, entry in entries.items()}
    return Comparison(documents, faults | leftovers)


def find_faults(project_ids: Sequence[int], *, everything: bool = False) -> list[Fault]:
    """Return all missing or leftover entries, and differences in a sample (or all) of the entries."""
    found = [fault for project_id in project_ids for fault in _faults_in_ids(project_id)]
    for (project_id, kind), object_ids in sample_entries(project_ids, ALL if everything else SAMPLE).items():
        for noun in indexed_nouns():
            if noun.kind == kind:
                found += _faults(noun, project_id, object_ids)
    return list(dict.fromkeys(found))


def _problem(project_id: int, kind: str, document: Document, entry: Entry | None) -> str:
    if entry is None:
        return MISSING
    scope = scope_words(project_id, kind, document)
    expected = [(p.part, p.start, p.size, p.words, scope) for p in passages(document)]
    return "" if entry == Entry(entry.id, document.ref, document.at, expected) else DIFFERENT


def _objects_with_wrong_words(
    project_id: int, documents: Sequence[Document], entries: Mapping[int, Entry]
) -> Collection[int]:
    """Return the ids of objects with a word missing in the vocabulary, or with one they no longer have."""
    words = {document.object_id: known_words(document) for document in documents}
    known = known_words_among(project_id, sorted(set().union(*words.values())))
    words_by_entry = words_of_entries([entry.id for entry in entries.values()])
    return {
        object_id
        for object_id, object_words in words.items()
        if not object_words <= known
        or (object_id in entries and not _has_all(entries[object_id], words_by_entry))
    }


def _has_all(entry: Entry, words_by_entry: Mapping[int, Sequence[str]]) -> bool:
    """Whether the entry has the stem of each vocabulary word that refers to it."""
    stems = {word for passage in entry.passages for word in passage[3].split()}
    return all(stem(word) in stems for word in words_by_entry.get(entry.id, ()))


def _faults_in_ids(project_id: int) -> Iterator[Fault]:
    """Find the faults that need no text: missing and leftover rows."""
    yield from (Fault(project_id, LEFT_OVER, ref) for _, _, ref in entries_of_unknown_kinds(project_id))
    yield from (Fault(project_id, PASSAGE, str(text_id)) for text_id in orphan_passages(project_id))
    yield from (Fault(project_id, WORD, word) for word in orphan_words(project_id))
    for noun in indexed_nouns():
        yield from _faults(noun, project_id, objects_without_entry(noun, project_id))
        yield from _faults(noun, project_id, entries_without_object(noun, project_id))


def _faults(noun: Noun, project_id: int, object_ids: Sequence[int]) -> Iterator[Fault]:
    """Compare objects; check faults again under the write lock, as a write may have been in progress."""
    for batch in in_chunks(object_ids):
        if suspects := list(compare(noun, project_id, batch).faults):
            with write_transaction(project_id):
                comparison = compare(noun, project_id, suspects)
            yield from comparison.faults.values()
