"""Pages without what stands around the names of agents: their marks, and what isolates their direction."""

import re

AROUND = re.compile(r'<svg class="ctx-agent-mark .*?</svg>|</?bdi>')


def unmarked(html: str) -> str:
    return AROUND.sub("", html)
