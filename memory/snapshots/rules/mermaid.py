"""Draws snapshots as a Mermaid flowchart."""

import re
from collections.abc import Iterable, Sequence

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.sentences import in_one_line
from memory.snapshots.rules.causes import CAUSED_BY

PLAIN = frozenset(" .,-!?")
# No emphasis within a word; no class (:::) and no icon (fa:fa-ban).
HARMLESS = re.compile(r"(?<=[^\W_])_(?=[^\W_])|(?<!:):(?!:|fa-)")
ARROWS = {CAUSED_BY: "-->"}


@frozen
class DrawnNode:
    id: int
    action_type: str
    summary: str

    @property
    def text(self) -> str:
        return f"{self.action_type}: {self.summary}"


Edge = tuple[int, int, str]
"""The id of a snapshot, that of its cause or dependency, and the kind of the link."""


def flowchart(nodes: Iterable[DrawnNode], edges: Sequence[Edge]) -> str:
    """Arrows lead from a cause to its effects; those of dependencies are dotted."""
    boxes = [f'  s{node.id}["{node.id} {escaped(node.text)}"]' for node in nodes]
    arrows = [f"  s{target} {ARROWS.get(link, '-.->')} s{source}" for source, target, link in edges]
    return "\n".join(["flowchart TD", *boxes, *arrows])


def escaped(text: str) -> str:
    """A label on one line without syntax: all ASCII but letters, digits, PLAIN and HARMLESS are entities."""
    shown = "".join(character for character in in_one_line(text) if character.isprintable())
    harmless = {found.start() for found in HARMLESS.finditer(shown)}
    return "".join(
        character if place in harmless else _escaped(character) for place, character in enumerate(shown)
    )


def _escaped(character: str) -> str:
    if character.isalnum() or character in PLAIN:
        return character
    return f"#{ord(character)};" if character.isascii() else character
