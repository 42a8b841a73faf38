"""What is wrong with the index: every entry against the thing it is of, read afresh."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.registry import Noun, indexed_nouns
from ctxhub.core.search.documents import Document, known_words, passages, scope_words
from ctxhub.core.search.selectors.index_rows import (
    Entry,
    entries_of_no_kind,
    entries_without_object,
    in_chunks,
    objects_without_entry,
    passages_of_nothing,
    read_documents,
    read_entries,
    sample_entries,
    which_are_known,
    words_of_entries,
    words_of_nothing,
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


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the thing of this ref; or with a passage, or a word."""

    project_id: int
    what: str
    ref: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Things as they are now, and by its id what is wrong with each that is not so in the index."""

    documents: Sequence[Document]
    faults: Mapping[int, Fault]


def compare(noun: Noun, project_id: int, object_ids: Sequence[int]) -> Comparison:
    """Some things with their entries, word by word; what is no more should have none."""
    documents = read_documents(noun, project_id, object_ids)
    entries = read_entries(project_id, noun.kind, object_ids)
    strange = _with_strange_words(project_id, documents, entries)
    faults = {}
    for document in documents:
        what = _what_is_wrong(project_id, noun.kind, document, entries.pop(document.object_id, None))
        if what or document.object_id in strange:
            faults[document.object_id] = Fault(project_id, what or VOCABULARY, document.ref)
    left = {gone: Fault(project_id, LEFT_OVER, entry.ref) for gone, entry in entries.items()}
    return Comparison(documents, faults | left)


def find_faults(project_ids: Sequence[int], *, everything: bool = False) -> list[Fault]:
    """All that is missing or left over, and what is wrong in a sample (or all) of the entries."""
    found = [fault for project_id in project_ids for fault in _faults_in_ids(project_id)]
    for (project_id, kind), object_ids in sample_entries(project_ids, ALL if everything else SAMPLE).items():
        for noun in indexed_nouns():
            if noun.kind == kind:
                found += _faults(noun, project_id, object_ids)
    return list(dict.fromkeys(found))


def _what_is_wrong(project_id: int, kind: str, document: Document, entry: Entry | None) -> str:
    if entry is None:
        return MISSING
    scope = scope_words(project_id, kind, document)
    made = [(p.part, p.start, p.size, p.words, scope) for p in passages(document)]
    return "" if entry == Entry(entry.id, document.ref, document.at, made) else DIFFERENT


def _with_strange_words(
    project_id: int, documents: Sequence[Document], entries: Mapping[int, Entry]
) -> Collection[int]:
    """Those of which a word is not in the vocabulary, or one is that they have no longer."""
    words = {document.object_id: known_words(document) for document in documents}
    known = which_are_known(project_id, sorted(set().union(*words.values())))
    held = words_of_entries([entry.id for entry in entries.values()])
    return {
        object_id
        for object_id, own in words.items()
        if not own <= known or (object_id in entries and not _has_all(entries[object_id], held))
    }


def _has_all(entry: Entry, held: Mapping[int, Sequence[str]]) -> bool:
    """A word stands with an entry that has its stem."""
    words = {word for passage in entry.passages for word in passage[3].split()}
    return all(stem(word) in words for word in held.get(entry.id, ()))


def _faults_in_ids(project_id: int) -> Iterator[Fault]:
    """What shows without reading any text."""
    yield from (Fault(project_id, LEFT_OVER, ref) for _, _, ref in entries_of_no_kind(project_id))
    yield from (Fault(project_id, PASSAGE, str(text_id)) for text_id in passages_of_nothing(project_id))
    yield from (Fault(project_id, WORD, word) for word in words_of_nothing(project_id))
    for noun in indexed_nouns():
        yield from _faults(noun, project_id, objects_without_entry(noun, project_id))
        yield from _faults(noun, project_id, entries_without_object(noun, project_id))


def _faults(noun: Noun, project_id: int, object_ids: Sequence[int]) -> Iterator[Fault]:
    """What seems wrong is looked at again while the project's writers wait: one may have been half way."""
    for some in in_chunks(object_ids):
        if suspects := list(compare(noun, project_id, some).faults):
            with write_transaction(project_id):
                found = compare(noun, project_id, suspects)
            yield from found.faults.values()
