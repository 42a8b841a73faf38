"""Validates the arguments of webhook operations. Runs before any lock is taken."""

from collections.abc import Callable, Iterable, Sequence

from ctxhub.core.events.log import VERBS, VERBS_OF_ACTION
from ctxhub.core.kit.errors import unknown_word
from ctxhub.core.kit.inputs import clean_choice, clean_words
from ctxhub.core.kit.priority import Priority
from ctxhub.core.registry import all_nouns
from ctxhub.core.webhooks.models import WebhookKind

# The nouns of the log that are no kinds of objects.
NOUNS_OF_HUB = ("config", "hub", "tag", "scope", "category", "layer", "agent", "session")


def known_nouns() -> list[str]:
    return list(dict.fromkeys([*(noun.kind for noun in all_nouns() if noun.wakes), *NOUNS_OF_HUB]))


def clean_kind(kind: str) -> WebhookKind:
    return clean_choice(kind, WebhookKind, "kind")


def clean_nouns(nouns: Iterable[str] | None) -> list[str]:
    return _known(nouns, "nouns", known_nouns(), lambda noun: (noun,))


def clean_verbs(verbs: Iterable[str] | None) -> list[str]:
    words = [*VERBS, *VERBS_OF_ACTION]
    return _known(verbs, "verbs", words, lambda verb: VERBS_OF_ACTION.get(verb, (verb,)))


def clean_priority(priority: Iterable[str] | None) -> list[str]:
    words = clean_words(priority, "priority")
    return list(dict.fromkeys(str(clean_choice(word, Priority, "priority").label) for word in words))


def _known(
    values: Iterable[str] | None,
    name: str,
    known: Sequence[str],
    meant: Callable[[str], Sequence[str]],
) -> list[str]:
    words = [word.lower() for word in clean_words(values, name)]
    for word in words:
        if word not in known:
            raise unknown_word(name, word, known)
    return list(dict.fromkeys(each for word in words for each in meant(word)))
