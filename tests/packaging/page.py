"""The blocks of code that a page prints, in their order."""

import re
from typing import NamedTuple

from ctxhub import env

TEAM_SERVER = env.ROOT / "docs/team-server.md"


class Block(NamedTuple):
    """A fenced block: `section` is the heading above it, `target` the file in /etc that the text names."""

    section: str
    language: str
    text: str
    target: str


def blocks_of(text: str) -> list[Block]:
    found = []
    for section in re.split(r"^#{2,3} ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = section.partition("\n")
        end = 0
        for match in re.finditer(r"^```(\w*)\n(.*?)^```$", body, re.MULTILINE | re.DOTALL):
            before = body[end : match.start()].strip().rpartition("\n\n")[2]
            targets = re.findall(r"`(/etc/\S+)`", before)
            found.append(Block(heading, match[1], match[2], targets[-1] if targets else ""))
            end = match.end()
    return found


def team_server_blocks() -> list[Block]:
    return blocks_of(TEAM_SERVER.read_text())
