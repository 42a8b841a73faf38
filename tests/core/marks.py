"""Pages without the marks of agents, for tests of what stands beside them."""

import re

MARK = re.compile(r'<svg class="ctx-agent-mark .*?</svg>')


def unmarked(html: str) -> str:
    return MARK.sub("", html)
