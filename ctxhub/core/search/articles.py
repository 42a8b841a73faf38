"""The forms of an Arabic word with and without the article, which is written as one word with it."""

# Alone, and behind the words that are written together with it: and, so, by, like, for.
ARTICLES = (
    "\u0627\u0644",
    "\u0648\u0627\u0644",
    "\u0641\u0627\u0644",
    "\u0628\u0627\u0644",
    "\u0643\u0627\u0644",
    "\u0644\u0644",
)
# What is left of a shorter word is rather another word.
LEAST_LETTERS = 2
LEAST_BEHIND_TWO = 3


def with_and_without_article(word: str) -> tuple[str, ...]:
    """The word first; others than Arabic words have this form alone."""
    if not _is_arabic(word):
        return (word,)
    plain = _without_article(word)
    if len(plain) < LEAST_LETTERS or plain.startswith(ARTICLES[0]):
        return (word,)
    return tuple(dict.fromkeys([word, plain, *(f"{article}{plain}" for article in ARTICLES)]))


def _without_article(word: str) -> str:
    for article in ARTICLES:
        least = LEAST_LETTERS if article == ARTICLES[0] else LEAST_BEHIND_TWO
        if word.startswith(article) and len(word) - len(article) >= least:
            return word.removeprefix(article)
    return word


def _is_arabic(word: str) -> bool:
    return not word.isascii() and all(
        "\u0620" <= char <= "\u065f" or "\u066e" <= char <= "\u06d3" for char in word
    )
