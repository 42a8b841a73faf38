"""English singulars and plurals of nouns, and enumerations."""

from collections.abc import Sequence


def singular(plural: str) -> str:
    """The singular of a regular English plural."""
    if plural.endswith("ies"):
        return f"{plural[:-3]}y"
    if plural.endswith("sses"):
        return plural.removesuffix("es")
    return plural if plural.endswith("ss") else plural.removesuffix("s")


def plural(singular: str) -> str:
    """The regular plural of an English noun."""
    if singular.endswith("y") and singular[-2:-1] not in tuple("aeiou"):
        return f"{singular[:-1]}ies"
    return f"{singular}es" if singular.endswith(("s", "x", "ch", "sh")) else f"{singular}s"


def counted(count: int, plural: str) -> str:
    """`1 memory`, `2,000 memories`."""
    return f"{count:,} {singular(plural) if count == 1 else plural}"


def often(count: int) -> str:
    """`once`, `twice`, `3 times`."""
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def enumerated(words: Sequence[str]) -> str:
    """`1 decision, 2 constraints and 1 memory`."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
