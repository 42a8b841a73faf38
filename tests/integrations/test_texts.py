"""What a hook takes of conversations, and the bounds of what it tells."""

import json
import time
from pathlib import Path

import pytest
from ctxhub_client import process
from ctxhub_client.hooks.captures import marked_lines
from ctxhub_client.hooks.checks import CHECK_TOKENS, check_text, estimate_tokens
from ctxhub_client.hooks.transcripts import read_transcript

from tests.integrations.hook import INPUTS
from tests.integrations.stub_hub import rows
from tests.tokens import o200k

CORPUS = sorted((Path(__file__).parents[1] / "corpus").rglob("*.*"))


@pytest.fixture(autouse=True)
def _started_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program takes its import for the start of a hook."""
    monkeypatch.setattr(process, "STARTED", time.monotonic())


def entry(role: str, text: str) -> str:
    return json.dumps({"type": role, "message": {"role": role, "content": [{"type": "text", "text": text}]}})


def test_the_recorded_transcript_has_the_words_of_user_and_assistant() -> None:
    done = ("assistant", "Done.\nDecision: use a = 2.")
    assert read_transcript(str(INPUTS / "transcript.jsonl")) == [("user", "Write the app"), done, done]


def test_the_newest_200_kb_are_taken(tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    file.write_text("\n".join(entry("user", f"{n} " + "ä" * 5_000) for n in range(60)) + "\n")
    texts = read_transcript(str(file))
    assert 195_000 < sum(len(text.encode()) for _, text in texts) <= 200_000
    assert texts[-1][1].startswith("59 ")
    assert texts[1][1].startswith("41 ")


def test_texts_before_much_output_of_tools_are_found(tmp_path: Path) -> None:
    file = tmp_path / "tools.jsonl"
    result = json.dumps(
        {
            "type": "user",
            "message": {"role": "user", "content": [{"type": "tool_result", "content": "x" * 3_000_000}]},
        }
    )
    file.write_text("\n".join([entry("user", "Begin."), result, entry("assistant", "End.")]))
    assert read_transcript(str(file)) == [("user", "Begin."), ("assistant", "End.")]


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"{\n[1]\nnull\n", b'\xff"user"\xfe\n', b'{"type":"user","message":7}\n']
)
def test_a_transcript_of_another_form_has_no_texts(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "transcript.jsonl"
    file.write_bytes(data)
    assert read_transcript(str(file)) == []


def test_lines_may_end_as_on_windows(tmp_path: Path) -> None:
    file = tmp_path / "transcript.jsonl"
    file.write_bytes((entry("user", "Hello.") + "\r\n").encode() * 2)
    assert read_transcript(str(file)) == [("user", "Hello.")] * 2


def test_ten_marked_lines_are_taken_at_most() -> None:
    assert len(marked_lines("Remember: this.\n" * 30)) == 10


@pytest.mark.parametrize(
    "line", ["Decision:", "Decision:   ", "decision: x", "A Decision: x", "> Remember: x"]
)
def test_other_lines_are_not_marked(line: str) -> None:
    assert marked_lines(line) == []


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_what_is_told_before_an_edit_has_300_tokens_at_most(path: Path) -> None:
    lines = [line for line in path.read_text(errors="replace").splitlines() if line.strip()]
    found = [(f"decision:{n}", " ".join(lines[n : n + 6]), "ben", "path src/**") for n in range(0, 60, 3)]
    told = check_text(["src/app.py"], [], {"decisions": rows(*found)})
    assert o200k(told) <= CHECK_TOKENS
    assert estimate_tokens(told) <= CHECK_TOKENS
