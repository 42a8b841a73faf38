"""The rules for agents: a block between two marks in the file that a client reads them from."""

from __future__ import annotations

import re

from ctxhub_client.connect.part import Part
from ctxhub_client.install.blocks import MARKDOWN_BLOCK, MARKDOWN_MARKS, block_of
from ctxhub_client.install.rules import RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.values import Json

BLOCK = re.compile(MARKDOWN_BLOCK + r"[ \t]*(?:\r?\n|$)", re.DOTALL)


class BlockPart(Part):
    """`head` is what a file of our own begins with."""

    key = "rules"

    def __init__(self, head: str = "") -> None:
        self.head = head

    def is_in(self, text: str) -> bool:
        return self.lines() in text.replace("\r\n", "\n") + "\n"

    def note(self, text: str) -> Json:
        return {"added": "" if BLOCK.search(text) else self._added_to(text)}

    def put_into(self, text: str) -> str:
        if BLOCK.search(text):
            return BLOCK.sub(lambda _: self._written(text), text, count=1)
        return text + self._added_to(text)

    def take_out_of(self, text: str, noted: Json | None) -> str:
        added = str(noted["added"]) if noted else ""
        if added and text.count(added) == 1:
            return text.replace(added, "")
        return BLOCK.sub("", text)

    def is_blank(self, text: str) -> bool:
        return text.strip() in ("", self.head.strip())

    def lines(self) -> str:
        return block_of(MARKDOWN_MARKS, RULES)

    def _written(self, text: str) -> str:
        return self.lines().replace("\n", "\r\n" if "\r\n" in text else "\n")

    def _added_to(self, text: str) -> str:
        if not text:
            return self.head + self.lines()
        newline = "\r\n" if "\r\n" in text else "\n"
        return (newline if text.endswith("\n") else newline * 2) + self._written(text)
