"""Computes the digest that lists show of a memory, and the tokens of its title and content."""

from ctxhub.core.text.front_matter import title_in_front_matter
from ctxhub.core.text.sentences import in_one_line, paragraphs, sentence_at, shortened
from ctxhub.core.text.token_count import count_tokens

# A longer first sentence is truncated, so that even a list of twenty costs few tokens.
SENTENCE_CHARACTERS = 100
CUT_CHARACTERS = 77


def digest_of(title: str, content: str) -> str:
    """The first sentence outside code, on one line, truncated if long; the title if the content has none.

    What only repeats the title, as a heading often does, is passed over.
    """
    titles = {in_one_line(known).casefold() for known in (title, title_in_front_matter(content))}
    line = next((line for line in paragraphs(content) if line.casefold() not in titles), "")
    return _shortened(sentence_at(line, 0, 2 * SENTENCE_CHARACTERS) if line else in_one_line(title))


def tokens_of(title: str, content: str) -> int:
    return count_tokens(title) + count_tokens(content)


def _shortened(sentence: str) -> str:
    return sentence if len(sentence) < SENTENCE_CHARACTERS else shortened(sentence, CUT_CHARACTERS)
