"""The prompt `review_decisions`: the decisions in force, those that became stale first."""

from collections.abc import Mapping
from typing import Any

from ctxhub.mcp.offers.prompt_texts import BACKGROUND, Filling, Row, line, section, text_of
from ctxhub.toolbox.instructions import Sentence

STEPS = (
    Sentence("Read each one whole, with its reason, and look at the code: ", {"get": "get opens its ref"}),
    Sentence("It holds as it is: ", {"hub confirm": "hub confirm with its ref"}),
    Sentence(
        "It is outdated: ",
        {"decision set": "decision set with the new value, the reason and expected_version"},
    ),
    Sentence(
        "It is over: ",
        {"decision deprecate": "decision deprecate with superseded_by, if another took its place"},
    ),
    Sentence("Two contradict each other, or you are not sure: ask your user before you change anything"),
    Sentence("Tell your user what you confirmed, changed and ended"),
)


def text(filling: Filling, arguments: Mapping[str, str]) -> str:
    stale = filling.rows("decision", "list", stale=True, **arguments)
    shown = {row["key"] for row in stale}
    others = [row for row in filling.rows("decision", "list", **arguments) if row["key"] not in shown]
    listed = [
        section("stale: files that they bear on have changed since", [_line(row) for row in stale]),
        section("others, the last changed first", [_line(row) for row in others]),
    ]
    return text_of(
        [
            f"Review the decisions in force{_which(arguments)}.",
            BACKGROUND,
            *(listed if any(listed) else ["There are none."]),
            filling.steps(*STEPS),
        ]
    )


def _which(arguments: Mapping[str, str]) -> str:
    layer, tags = (arguments.get(name, "") for name in ("layer", "tags"))
    return f"{f' in the layer {layer}' if layer else ''}{f' with any of the tags {tags}' if tags else ''}"


def _line(row: Row) -> str:
    at = f"{row['agent']}, {row['updated'][:10]}"
    return (
        f"decision:{row['key']}: {line(row['value'], row.get('layer'), row.get('tags'))} ({at}{_stale(row)})"
    )


def _stale(row: Row) -> str:
    stale: Any = row.get("stale")
    return f", stale: {stale}" if stale else ""
