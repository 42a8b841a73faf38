"""Entries that answer no question but speak of the same things, put together from `fragments.json`."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.questions.entries import Entry, Kind

FRAGMENTS = Path(__file__).parent / "fragments.json"
SEED = 1

Words = dict[str, str]


def made_entries() -> list[Entry]:
    """As many of each family as its share says; no text and no key comes twice. Always the same."""
    fragments = json.loads(FRAGMENTS.read_text(encoding="utf-8"))
    random = Random(SEED)
    entries: list[Entry] = []
    for family in fragments["families"]:
        entries += _family(random, family, fragments["slots"], fragments["together"])
    return entries


def _family(
    random: Random, family: dict[str, Any], slots: dict[str, list[str]], together: list[list[str]]
) -> Iterator[Entry]:
    kind = Kind(family["kind"])
    seen: set[str] = set()
    number = 0
    while number < family["share"]:
        words = _words(random, slots, together)
        text = _sentence(random.choice(family["facts"]) + random.choice(family["endings"]), words)
        title = random.choice(family["titles"]).format(**words)
        # A second decision under the same key would replace the first.
        names = {text, title} if kind is Kind.DECISION else {text}
        if names & seen:
            continue
        seen |= names
        number += 1
        tags = tuple(tag.format(**words) for tag in random.choice(family["tags"]))
        yield Entry(f"{family['name']}-{number:03}", kind, title, text, tags)


def _words(random: Random, slots: dict[str, list[str]], together: list[list[str]]) -> Words:
    """A word for each slot; slots that stand together take theirs from the same place of their lists."""
    words = {slot: random.choice(choices) for slot, choices in slots.items()}
    for group in together:
        place = random.randrange(len(slots[group[0]]))
        words |= {slot: slots[slot][place] for slot in group}
    return words


def _sentence(pattern: str, words: Words) -> str:
    text = pattern.format(**words)
    return f"The {text[4:]}" if text.startswith("the ") else text
