"""Chooses which files of a session fit into a token budget, and stores the choice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import NotRequired

# Pydantic builds the answer's schema and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit import clock
from ctxhub.core.kit.answers import MAX_TOKENS, size
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_from_to, clean_query
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.text.token_count import count_tokens
from sessions.accesses.models import Mode
from sessions.prioritize import files as rows
from sessions.prioritize.compression import ShorterForms, shorter_forms
from sessions.prioritize.files import Chosen, FileRow, NewForms, find_own_session, query_scores
from sessions.prioritize.packing import STRONG, FileLink, Form, PackedFile, Pull, in_order, pack, pulls
from tracking.files.importance import Importance, ImportanceFacts, importance_of
from tracking.files.models import ResourceType

MOST_TOKENS = 2_000_000
MOST_TOKENS_WITH_CONTENT = 18_000
MOST_ROWS = 200
# What the rows of an answer may take: `mail` and the totals come beside them.
ANSWER_TOKENS = MAX_TOKENS - 150
ROUNDS = 4
# Texts are read in groups of so many tokens, or of a hundred.
TOKENS_AT_ONCE = 1_000_000
HASH_CHARACTERS = 8
OVER_BUDGET, OVER_ANSWER = "over budget", "the answer is full"
NO_CONTENT = "no content"


class IncludedFile(TypedDict):
    """`original_tokens` is null if nobody said how large the file is. `text`: where content is asked for."""

    path: str
    mode: str
    tokens: int
    original_tokens: int | None
    score: int
    reasons: list[str]
    text: NotRequired[str]


class ExcludedFile(TypedDict):
    """`tokens`: of the whole file, or of its reference if its size is unknown."""

    path: str
    tokens: int
    score: int
    reason: str


class PrioritizeAnswer(TypedDict):
    included: list[IncludedFile]
    excluded: list[ExcludedFile]
    tokens_used: int
    tokens_remaining: int
    omitted: NotRequired[int]


def prioritize_files(
    *,
    caller: Caller,
    budget_tokens: int,
    session: str | int | None = None,
    query: str | None = None,
    content: bool = False,
) -> PrioritizeAnswer:
    """Choose the files of a session that fit into a budget, most important first, each in its fullest form.

    The budget counts the chosen forms. With `content` each has its text, and the budget is at most 18,000.
    Raises NotAllowed for another agent's session; without a session the answer is empty.
    """
    most = MOST_TOKENS_WITH_CONTENT if content else MOST_TOKENS
    budget = clean_from_to(budget_tokens, "budget_tokens", 0, most)
    query = clean_query(query, "query") if query else None
    session_id = find_own_session(caller.in_session(session))
    if session_id is None:
        return PrioritizeAnswer(included=[], excluded=[], tokens_used=0, tokens_remaining=budget)
    now = clock.now()
    choice = _Choice(caller.project_id, session_id, _read_entries(caller.project_id, session_id, query, now))
    answer = choice.answer_with_content(budget) if content else choice.answer(budget)
    _write(caller.project_id, session_id, choice, now)
    return answer


# -- Files -----------------------------------------------------------------------------------------


@frozen
class _Entry:
    """A file with what is known of it. `packed` is None for one that no longer belongs to the session."""

    row: FileRow
    importance: Importance
    packed: PackedFile | None
    reference: str
    pulled_by: str = ""

    @property
    def reasons(self) -> list[str]:
        parts = sorted(self.importance.parts.items(), key=lambda part: -part[1])
        pulled = [f"needed by {self.pulled_by}"] if self.pulled_by else []
        return [*pulled, *(f"{name} {round(part, 1):g}" for name, part in parts if part)]


def _read_entries(project_id: int, session_id: int, query: str | None, now: datetime) -> list[_Entry]:
    files = rows.read_files(project_id, session_id, STRONG)
    links = [FileLink(*link) for link in rows.read_links(project_id, session_id, STRONG)]
    scores = query_scores(project_id, query) if query and files else {}
    weighed = {file.id: importance_of(_facts(file, scores), now) for file in files}
    pulled = pulls({file.id: weighed[file.id].total for file in files if file.is_own}, links)
    paths = {file.id: file.path for file in files}
    return [_entry(file, weighed[file.id], pulled.get(file.id), paths) for file in files]


def _facts(file: FileRow, scores: Mapping[int, float]) -> ImportanceFacts:
    return ImportanceFacts(
        last_accessed=file.last_accessed,
        access_count=file.access_count,
        best_access=file.best_access,
        is_modified=file.is_modified,
        incoming_strength=file.incoming_strength,
        type=file.type,
        mark=file.mark,
        query_score=scores.get(file.id, 0.0),
    )


def _entry(file: FileRow, importance: Importance, pull: Pull | None, paths: Mapping[int, str]) -> _Entry:
    tokens, reference = _tokens(file), _reference(file)
    is_raised = pull is not None and (not file.is_own or pull.score > importance.total)
    packed = PackedFile(
        id=file.id,
        path=file.path,
        score=max(importance.total, pull.score if pull else 0),
        tokens=tokens,
        reference_tokens=count_tokens(reference),
        has_text=file.content_tokens is not None,
    )
    return _Entry(
        file,
        importance,
        packed if file.is_own or pull else None,
        reference,
        paths[pull.source] if pull and is_raised else "",
    )


def _tokens(file: FileRow) -> int | None:
    """The tokens of the whole file; None if they are unknown: a file is empty only if it is said to be."""
    if file.content_tokens is not None:
        return file.content_tokens
    return 0 if file.size == 0 else file.tokens or None


def _reference(file: FileRow) -> str:
    tokens = _tokens(file)
    facts = [
        str(ResourceType(file.type).label),
        *([f"{tokens} tokens"] if tokens is not None else []),
        *([file.hash[:HASH_CHARACTERS]] if file.hash else []),
    ]
    return f"{file.path} ({', '.join(facts)})"


# -- Choosing --------------------------------------------------------------------------------------


@dataclass
class _Choice:
    """The files of a session, and the form of each that is included.

    `made`: the shorter forms that this call makes, by content id. They are kept for the next call.
    """

    project_id: int
    session_id: int
    entries: Sequence[_Entry]
    forms: dict[int, Form] = field(default_factory=dict)
    made: dict[int, ShorterForms] = field(default_factory=dict)
    _texts: dict[tuple[Mode, int], str] = field(default_factory=dict)
    _is_full: bool = False

    @cached_property
    def ordered(self) -> list[_Entry]:
        """Those that may be included, in the order of packing."""
        known = {entry.row.id: entry for entry in self.entries}
        return [known[file.id] for file in in_order(entry.packed for entry in self.entries if entry.packed)]

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {entry.row.id: position for position, entry in enumerate(self.ordered)}

    def answer(self, budget: int) -> PrioritizeAnswer:
        self._pack(budget, needs_text=False)
        return self._listed(self._included(), budget, MOST_ROWS)

    def answer_with_content(self, budget: int) -> PrioritizeAnswer:
        """The files with their texts. As JSON a text is longer: what the answer cannot hold is excluded."""
        within = budget
        for _ in range(ROUNDS):
            self._pack(within, needs_text=True)
            included = self._with_texts(self._included())
            if (taken := sum(map(size, included))) <= ANSWER_TOKENS:
                break
            self._is_full = True
            within = within * ANSWER_TOKENS // taken - 1
        kept = included[: _fitting(included, ANSWER_TOKENS)]
        paths = {file["path"] for file in kept}
        self.forms = {e.row.id: self.forms[e.row.id] for e in self.ordered if e.row.path in paths}
        return self._listed(kept, budget, len(kept))

    def changes(self) -> list[tuple[int, Chosen]]:
        """What was chosen and is not stored so, by file ids."""
        wanted = [(entry, self._chosen(entry)) for entry in self.entries]
        return [
            (entry.row.id, chosen)
            for entry, chosen in wanted
            if chosen != entry.row.chosen and (chosen.included or entry.row.chosen)
        ]

    def _pack(self, budget: int, *, needs_text: bool) -> None:
        files = [entry.packed for entry in self.ordered if entry.packed]
        if needs_text:
            files = [_only_named(file) for file in files]
        self.forms = pack(files, budget, self._shorter_tokens)

    def _chosen(self, entry: _Entry) -> Chosen:
        form = self.forms.get(entry.row.id)
        score = entry.packed.score if entry.packed else 0
        if form is None:
            return Chosen(relevance=score)
        return Chosen(score, True, form.mode.value, None if form.mode == Mode.FULL else form.tokens)

    # -- Forms -------------------------------------------------------------------------------------

    def _shorter_tokens(self, file: PackedFile) -> tuple[int, int]:
        row = self.ordered[self._positions[file.id]].row
        if row.compressed_tokens is not None and row.digest_tokens is not None:
            return row.compressed_tokens, row.digest_tokens
        forms = self._forms_of(row)
        # A content that was deleted meanwhile cannot be shortened.
        return (forms.compressed_tokens, forms.digest_tokens) if forms else (MOST_TOKENS + 1, MOST_TOKENS + 1)

    def _forms_of(self, row: FileRow) -> ShorterForms | None:
        content_id = row.content_id
        assert content_id is not None
        if content_id not in self.made:
            if (Mode.FULL, content_id) not in self._texts:
                self._read_texts_from(self._positions[row.id])
            text = self._texts.pop((Mode.FULL, content_id), None)
            if text is None:
                return None
            self.made[content_id] = shorter_forms(row.path, text)
        return self.made[content_id]

    def _read_texts_from(self, position: int) -> None:
        """Read the text of a file, and of the next ones that have no shorter forms yet."""
        ids: list[int] = []
        tokens = 0
        for entry in self.ordered[position:]:
            row = entry.row
            is_wanted = row.content_id and row.digest_tokens is None and row.content_id not in self.made
            if row.content_id and is_wanted:
                tokens += row.content_tokens or 0
                if ids and (tokens > TOKENS_AT_ONCE or len(ids) == rows.TEXTS_AT_ONCE):
                    break
                ids.append(row.content_id)
        read = rows.read_texts(self.project_id, ids)
        self._texts |= {(Mode.FULL, content_id): text for content_id, text in read.items()}

    # -- Answers -----------------------------------------------------------------------------------

    def _included(self) -> list[IncludedFile]:
        return [
            _included_file(entry, self.forms[entry.row.id])
            for entry in self.ordered
            if entry.row.id in self.forms
        ]

    def _with_texts(self, included: Sequence[IncludedFile]) -> list[IncludedFile]:
        """The files with their texts, read in one query for each mode."""
        entries = [entry for entry in self.ordered if entry.row.id in self.forms]
        self._read_chosen_texts(entries)
        return [{**file, "text": self._text(entry)} for file, entry in zip(included, entries, strict=True)]

    def _read_chosen_texts(self, entries: Sequence[_Entry]) -> None:
        columns = {Mode.FULL: "text", Mode.COMPRESSED: "compressed", Mode.DIGEST: "digest"}
        for mode, column in columns.items():
            chosen = {e.row.content_id for e in entries if self.forms[e.row.id].mode == mode}
            ids = [i for i in chosen if i and (mode, i) not in self._texts]
            if mode != Mode.FULL:
                ids = [i for i in ids if i not in self.made]
            read = rows.read_texts(self.project_id, sorted(ids), column)
            self._texts |= {(mode, content_id): text for content_id, text in read.items()}

    def _text(self, entry: _Entry) -> str:
        mode, content_id = self.forms[entry.row.id].mode, entry.row.content_id
        if mode == Mode.REFERENCE or content_id is None:
            return entry.reference if mode == Mode.REFERENCE else ""
        if mode != Mode.FULL and (made := self.made.get(content_id)):
            return made.compressed if mode == Mode.COMPRESSED else made.digest
        return self._texts.get((mode, content_id), "")

    def _listed(self, included: Sequence[IncludedFile], budget: int, most: int) -> PrioritizeAnswer:
        """The answer with as many rows as it can hold, those of included files first."""
        excluded = [self._excluded_file(entry) for entry in self.ordered if entry.row.id not in self.forms]
        shown = included[: min(most, _fitting(included, ANSWER_TOKENS))]
        room = ANSWER_TOKENS - sum(map(size, shown))
        left_out = excluded[: min(MOST_ROWS, _fitting(excluded, room))]
        used = sum(form.tokens for form in self.forms.values())
        omitted = len(included) + len(excluded) - len(shown) - len(left_out)
        answer = PrioritizeAnswer(
            included=list(shown), excluded=left_out, tokens_used=used, tokens_remaining=budget - used
        )
        return {**answer, "omitted": omitted} if omitted else answer

    def _excluded_file(self, entry: _Entry) -> ExcludedFile:
        file = entry.packed
        assert file
        return ExcludedFile(
            path=file.path,
            tokens=file.reference_tokens if file.tokens is None else file.tokens,
            score=file.score,
            reason=OVER_ANSWER if self._is_full else OVER_BUDGET,
        )


def _only_named(file: PackedFile) -> PackedFile:
    """The file as it is with content: if its text is not stored, it can only be named."""
    if file.has_text or file.tokens == 0:
        return file
    return PackedFile(file.id, file.path, file.score, None, file.reference_tokens, has_text=False)


def _included_file(entry: _Entry, form: Form) -> IncludedFile:
    assert entry.packed
    is_unknown = form.mode == Mode.REFERENCE and not entry.packed.has_text
    return IncludedFile(
        path=entry.row.path,
        mode=str(form.mode.label),
        tokens=form.tokens,
        original_tokens=entry.packed.tokens,
        score=entry.packed.score,
        reasons=[NO_CONTENT, *entry.reasons] if is_unknown else entry.reasons,
    )


def _fitting(files: Sequence[IncludedFile] | Sequence[ExcludedFile], room: int) -> int:
    """How many of these rows an answer with this room can hold."""
    for count, file in enumerate(files):
        room -= size(file)
        if room < 0:
            return count
    return len(files)


# -- Writing ---------------------------------------------------------------------------------------


def _write(project_id: int, session_id: int, choice: _Choice, at: datetime) -> None:
    changes = choice.changes()
    forms = [_new_forms(content_id, made) for content_id, made in choice.made.items()]
    if changes or forms:
        with write_transaction(project_id):
            rows.write_chosen(project_id, session_id, changes, at)
            rows.keep_forms(project_id, forms)


def _new_forms(content_id: int, made: ShorterForms) -> NewForms:
    return NewForms(content_id, made.compressed, made.compressed_tokens, made.digest, made.digest_tokens)
