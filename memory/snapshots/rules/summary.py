"""Makes the summary of a content whose author gave none."""

from ctxhub.core.text.graphemes import breaks
from ctxhub.core.text.sentences import LOOKED_AT, in_one_line, paragraphs, sentence_at, shortened

SUMMARY_CHARACTERS = 200


def summary_of(content: str) -> str:
    """The first sentences outside code that have at most 200 characters; a longer one is cut at a word."""
    content, summary = content.strip(), ""
    for line in [*paragraphs(content)] or [in_one_line(content[:LOOKED_AT])]:
        start = 0
        while start < len(line):
            sentence = sentence_at(line, start, SUMMARY_CHARACTERS + 1)
            longer = f"{summary} {sentence.strip()}".strip()
            if len(longer) > SUMMARY_CHARACTERS:
                return summary or _cut(longer)
            summary, start = longer, start + len(sentence)
    return summary


def _cut(line: str) -> str:
    """A line cut between words, with an ellipsis."""
    ends = breaks(line, 0, SUMMARY_CHARACTERS)
    return shortened(line, ends[-1] if ends else SUMMARY_CHARACTERS - 1)
