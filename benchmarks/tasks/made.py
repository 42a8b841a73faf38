"""Rows right for no task: other products of the same shop, put together from `fragments.json`.

They speak of limits, timeouts, caches and migrations as the rows written by hand do, of other things.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.tasks.rows import Noun, TaskRow

FRAGMENTS = Path(__file__).parent / "fragments.json"
SEED = 4
HOW_MANY = {
    Noun.DECISION: 436,
    Noun.CONSTRAINT: 104,
    Noun.MESSAGE: 268,
    Noun.MEMORY: 376,
    Noun.SNAPSHOT: 352,
}
CHANGES, LEASES, SESSIONS = 94, 12, 13
LAYER_OF = {
    "frontend": "presentation",
    "data": "data",
    "migrations": "data",
    "search": "data",
    "release": "infrastructure",
    "secrets": "infrastructure",
    "logging": "cross-cutting",
    "testing": "cross-cutting",
}
TAGS_OF = {
    "limits": ("performance", "api"),
    "timeouts": ("performance", "error-handling"),
    "caching": ("caching", "performance"),
    "retries": ("error-handling",),
    "migrations": ("database",),
    "testing": ("testing",),
    "logging": ("logging",),
    "access": ("authorization", "security"),
    "errors": ("error-handling", "validation"),
    "performance": ("performance",),
    "secrets": ("security",),
    "data": ("database",),
}
ACTIONS = ("conversation", "decision", "file_edit", "tool_use", "research")
CONTEXTS = ("incidents", "howto", "frontend", "mobile", "data", "testing", "stores")
PRIORITIES = ("low", "medium", "medium", "medium", "high")

Words = Mapping[str, str]


def made_rows() -> list[TaskRow]:
    fragments = json.loads(FRAGMENTS.read_text(encoding="utf-8"))
    random = Random(SEED)
    areas = [_with_capitals(area) for area in fragments["areas"]]
    rows: list[TaskRow] = []
    for noun, count in HOW_MANY.items():
        patterns = [pattern for pattern in fragments["patterns"] if pattern["noun"] == noun]
        chosen = random.sample(list(product(areas, patterns)), count)
        rows += [
            _row(random, f"{noun}-{number:03}", noun, area, pattern, fragments["endings"])
            for number, (area, pattern) in enumerate(chosen)
        ]
    rows = _with_causes(random, rows)
    rows += _changes(random, areas, fragments["changes"])
    rows += [_lease(number, area) for number, area in enumerate(random.sample(areas, LEASES))]
    rows += [_session(number, area) for number, area in enumerate(random.sample(areas, SESSIONS))]
    return rows


def _row(
    random: Random, row_id: str, noun: Noun, area: Words, pattern: Words, endings: Sequence[str]
) -> TaskRow:
    aspect, title = pattern["aspect"], pattern["title"].format(**area)
    ending = random.choice(endings).format(**area)
    text = pattern["text"].format(**area)
    is_short = aspect in {"de", "zh"} or random.random() < 0.4
    common: dict[str, Any] = {
        "id": row_id,
        "noun": noun,
        "tags": TAGS_OF.get(aspect, ()) if random.random() < 0.6 else (),
    }
    whole = text if is_short else f"{text} {ending}"
    paths = (f"{area['folder']}/**",)
    layer = LAYER_OF.get(aspect, "business")
    match noun:
        case Noun.DECISION:
            given: dict[str, Any] = {
                "title": f"{area['key']}/{aspect}/{title}",
                "text": text,
                "rationale": "" if is_short else ending,
                "layer": layer,
                "paths": paths if random.random() < 0.6 else (),
                "scopes": (area["key"],),
            }
        case Noun.CONSTRAINT:
            given = {"title": title, "text": text, "paths": paths, "priority": random.choice(PRIORITIES)}
        case Noun.MESSAGE:
            given = {"text": whole, "type": title, "priority": random.choice(PRIORITIES)}
        case Noun.MEMORY:
            given = {"title": title, "text": whole, "context": random.choice(CONTEXTS)}
        case _:
            given = {"title": title, "text": whole, "type": random.choice(ACTIONS), "scopes": (area["key"],)}
    return TaskRow(**common, **given)


def _with_causes(random: Random, rows: Sequence[TaskRow]) -> list[TaskRow]:
    """A third of the snapshots follow from one on the same product."""
    last: dict[tuple[str, ...], str] = {}
    result = []
    for row in rows:
        if row.noun is Noun.SNAPSHOT:
            if row.scopes in last and random.random() < 0.35:
                row = replace(row, cause=last[row.scopes])
            last[row.scopes] = row.id
        result.append(row)
    return result


def _changes(random: Random, areas: Sequence[Words], texts: Sequence[str]) -> Iterator[TaskRow]:
    for number, (area, text) in enumerate(random.sample(list(product(areas, texts)), CHANGES)):
        module = random.choice(("views.py", "services.py", "client.py", "models.py", "jobs.py", "page.tsx"))
        yield TaskRow(
            f"change-{number:03}", Noun.CHANGE, text.format(**area), title=f"{area['folder']}/{module}"
        )


def _lease(number: int, area: Words) -> TaskRow:
    return TaskRow(
        f"lease-{number:03}", Noun.LEASE, f"Rework of {area['name']}", title=f"{area['folder']}/**"
    )


def _session(number: int, area: Words) -> TaskRow:
    text = f"Worked on {area['name']}; next: tests of {area['job']} and the page for {area['people']}."
    return TaskRow(f"session-{number:03}", Noun.SESSION, text, title=area["name"])


def _with_capitals(area: Words) -> Words:
    """The words of an area, and those that may begin a sentence with a capital."""
    capitals = {word.capitalize(): _capital(area[word]) for word in ("name", "thing", "things", "partner")}
    capitals |= {word.capitalize(): _capital(area[word]) for word in ("people", "job")}
    return {**area, **capitals, "De": area["de"]}


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
