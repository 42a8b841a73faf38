"""Titles that capture gives to code."""

from typing import Any

import pytest

from memory.capture.patterns import find_pattern, find_title
from tests.hub import McpClient


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (
            "import time\n\ndef retry(fn, n=5):\n    return fn()\n# Give up after the last one",
            "def retry(fn, n=5)",
        ),
        ("def retry(fn):\n    pass\n\n# Register it below\nregister(retry)", "def retry(fn)"),
        ("# Retry with backoff\ndef retry(fn):\n    pass\n# the end of it", "Retry with backoff"),
        ("// Debounce saving\nfunction debounce(fn, ms) {\n}\n// usage: debounce(f, 3)", "Debounce saving"),
        ('"""Retries calls."""\nimport time\nclass Retry:\n    pass\n# more of it', "Retries calls"),
        (
            "const retry = async (fn) => {\n  return fn();\n};\n// exported at the end",
            "const retry = async (fn)",
        ),
        ("```python\nimport os\nclass Cache:\n    pass\n# Remove this one day\n```", "class Cache"),
        ("Retry helper:\n\n```python\nx = 1\n# the last comment\n```", "Retry helper"),
        ("Retry helper\n---\n\n```sh\ncurl x\n# the last comment\n```", "Retry helper"),
        ("# Retries\n\n```python\nx = 1\n# the last comment\n```\nSo it is.", "Retries"),
        ("#include <stdio.h>\nclass Cache {\n};\n# pragma of the end", "class Cache"),
    ],
)
def test_code_is_titled_by_what_it_begins_with(text: str, title: str) -> None:
    pattern = find_pattern(text)
    assert (pattern.name, find_title(text, pattern)) == ("code", title)


def test_capture_titles_code(ada_mcp: McpClient) -> None:
    code = "def retry(fn, attempts=5):\n    return fn()\n\n# Give up after the last attempt\nregister(retry)"
    answer: dict[str, Any] = ada_mcp.call("memory", "capture", content=code, dry_run=True)
    assert (answer["type"], answer["title"]) == ("snippet", "def retry(fn, attempts=5)")
