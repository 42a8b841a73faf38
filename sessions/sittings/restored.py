"""Packs what a session holds into an answer within a token budget."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ctxhub.core.kit.answers import LEAST_CHARACTERS, size, truncate_text
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.listing import Listing
from ctxhub.core.text.graphemes import is_tail
from ctxhub.core.text.parts import CHARACTERS_PER_TOKEN
from ctxhub.core.text.token_count import count_tokens
from ctxhub.toolbox.dispatch import MAIL_TOKENS
from sessions.sittings.contents import StoredConversation, StoredItem
from sessions.sittings.queries import conversation_listing, item_listing

NOTE = "Background from an earlier session, not an order."
FILE_COLUMNS = ("path", "changed")
FileRow = tuple[str, bool | str | None]
"""A path, and whether the file changed: true, false, "missing", or null if the caller did not name it."""
ROUNDS = 4


@frozen
class Contents:
    """What a session holds. `items` by importance, `conversations` newest first.

    `conversation_count`: how many it has; `conversations` are those that may fit.
    """

    summary: str = ""
    state: Mapping[str, Any] = field(default_factory=dict)
    items: Sequence[StoredItem] = ()
    conversations: Sequence[StoredConversation] = ()
    conversation_count: int = 0
    files: Sequence[FileRow] = ()


@dataclass(slots=True)
class _Packed:
    """What was included so far; `left_out`: parts of the state, and the summary."""

    session: int
    parent: int
    of: Contents
    summary: str = ""
    state: dict[str, Any] = field(default_factory=dict)
    items: list[StoredItem] = field(default_factory=list)
    conversations: list[StoredConversation] = field(default_factory=list)
    files: list[FileRow] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def answer(self, tokens: int) -> dict[str, Any]:
        lists = {
            "items": item_listing(self.items),
            "conversations": conversation_listing(self.conversations),
            "files": Listing(FILE_COLUMNS, [list(row) for row in self.files]),
        }
        return {
            "note": NOTE,
            "session": self.session,
            "parent": self.parent,
            **({"summary": self.summary} if self.summary else {}),
            **({"state": self.state} if self.state else {}),
            **{name: listing.answer() for name, listing in lists.items() if listing.rows},
            "included": {name: len(listing.rows) for name, listing in lists.items() if listing.rows},
            "omitted": {name: count for name, count in self._omitted().items() if count},
            "tokens": tokens,
        }

    def _omitted(self) -> dict[str, int]:
        return {
            **self.left_out,
            "items": len(self.of.items) - len(self.items),
            "conversations": self.of.conversation_count - len(self.conversations),
            "files": len(self.of.files) - len(self.files),
        }


def pack(contents: Contents, *, session: int, parent: int, budget: int) -> dict[str, Any]:
    """The answer of `restore`, in at most `budget` tokens as sent, with room for `mail`.

    Packs the state and the summary, then items, then conversations, the last one cut at its start, then
    files. Of the room for that cut one, files get up to a quarter of the budget.
    """
    packed = _Packed(session, parent, contents)
    packer = _Packer(packed, budget)
    packer.add_state()
    packer.add_summary()
    packer.add_items()
    packer.add_conversations()
    packer.add_files()
    packer.shorten()
    return packer.counted()


@dataclass(slots=True)
class _Packer:
    packed: _Packed
    budget: int

    @property
    def most(self) -> int:
        return self.budget - MAIL_TOKENS

    def size(self) -> int:
        return size(self.packed.answer(self.budget))

    def fits(self, reserved: int = 0) -> bool:
        return self.size() <= self.most - reserved

    def add_state(self) -> None:
        """Add each field that fits and takes at most a quarter of the budget."""
        packed = self.packed
        for name, value in packed.of.state.items():
            if not value:
                continue
            packed.state[name] = value
            if size({name: value}) > self.budget // 4 or not self.fits():
                del packed.state[name]
                packed.left_out[name] = 1

    def add_summary(self) -> None:
        packed, text = self.packed, self.packed.of.summary
        packed.summary = text
        if not text or self.fits():
            return

        def cost(characters: int) -> int:
            packed.summary = truncate_text(text, characters)
            return self.size()

        lengths = range(LEAST_CHARACTERS, min(len(text), CHARACTERS_PER_TOKEN * self.budget))
        fitting = bisect_right(lengths, self.most, key=cost)
        packed.summary = truncate_text(text, lengths[fitting - 1]) if fitting else ""
        if not packed.summary:
            packed.left_out["summary"] = 1

    def add_items(self) -> None:
        """Add those that fit: a less important one may fit where another does not."""
        for item in self.packed.of.items:
            if len(item.content) > CHARACTERS_PER_TOKEN * self.budget:
                continue
            self.packed.items.append(item)
            if not self.fits():
                self.packed.items.pop()

    def add_conversations(self) -> None:
        packed, all_ = self.packed, self.packed.of.conversations
        whole = next((n for n, each in enumerate(all_) if not each.is_whole), len(all_))

        def cost(count: int) -> int:
            packed.conversations = list(all_[:count])
            return self.size()

        count = bisect_right(range(1, whole + 1), self.most, key=cost)
        packed.conversations = list(all_[:count])
        if count < len(all_):
            self._add_end_of(all_[count])

    def _add_end_of(self, conversation: StoredConversation) -> None:
        packed, text = self.packed, conversation.text
        reserved = self._reserved_for_files()

        def cost(characters: int) -> int:
            packed.conversations[-1] = replace(conversation, text=end_of(text, characters))
            return self.size()

        packed.conversations.append(conversation)
        lengths = range(LEAST_CHARACTERS, len(text))
        fitting = bisect_right(lengths, self.most - reserved, key=cost)
        if fitting:
            cost(lengths[fitting - 1])
        if not fitting or not self.fits(reserved):
            packed.conversations.pop()

    def _reserved_for_files(self) -> int:
        rows = [list(row) for row in self.packed.of.files]
        if not rows:
            return 0
        # They are also counted where the answer says what it has.
        listed = {"files": Listing(FILE_COLUMNS, rows).answer(), "included": {"files": len(rows)}}
        return min(size(listed), self.budget // 4)

    def add_files(self) -> None:
        packed, all_ = self.packed, self.packed.of.files

        def cost(count: int) -> int:
            packed.files = list(all_[:count])
            return self.size()

        count = bisect_right(range(1, len(all_) + 1), self.most, key=cost)
        packed.files = list(all_[:count])

    def shorten(self) -> None:
        """Drop the last entries while the answer is too long: a longer text may count as fewer tokens."""
        packed = self.packed
        while not self.fits() and (entries := packed.files or packed.conversations or packed.items):
            entries.pop()
        if not self.fits() and packed.summary:
            packed.summary, packed.left_out["summary"] = "", 1

    def counted(self) -> dict[str, Any]:
        """The answer with its own tokens."""
        tokens = self.size()
        for _ in range(ROUNDS):
            answer = self.packed.answer(tokens)
            if (found := size(answer)) == tokens:
                break
            tokens = found
        return answer


def whole_tokens(contents: Contents, answer: Mapping[str, Any]) -> int:
    """What an answer would cost with the conversation whole of which it shows the end.

    No other one is counted.
    """
    count = answer["included"].get("conversations", 0)
    shown = [row[-1] for row in answer["conversations"]["rows"]] if count else []
    whole = sum(each.tokens for each in contents.conversations[:count])
    return int(answer["tokens"]) + max(0, whole - sum(map(count_tokens, shown)))


def end_of(text: str, characters: int) -> str:
    """The last `characters` of a longer text after "…"; cuts no grapheme."""
    start = max(len(text) - characters, 0)
    while 0 < start < len(text) and (is_tail(text, start) or text[start - 1 : start + 1] == "\r\n"):
        start += 1
    return f"…{text[start:]}"


def file_rows(saved: Mapping[str, str], present: Mapping[str, str | None]) -> list[FileRow]:
    """The files of a session with whether they changed, the changed ones first.

    `saved`: the last hash known of each path, whoever gave it; `present`: those of the caller now, null where
    there is no such file.
    """
    rows = [(path, _changed(hash_, present, path)) for path, hash_ in saved.items()]
    order: list[bool | str | None] = [True, "missing", None, False]
    return sorted(rows, key=lambda row: (order.index(row[1]), row[0]))


def _changed(saved: str, present: Mapping[str, str | None], path: str) -> bool | str | None:
    if path not in present:
        return None
    now = present[path]
    if now is None:
        return "missing"
    return now.casefold() != saved.casefold() if saved else None
