"""The choices of a question, and the one that a reply takes."""

from collections.abc import Sequence
from typing import Annotated

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, shown, unknown_word
from ctxhub.core.kit.inputs import clean_title, refuse_secret
from ctxhub.toolbox.argument_types import About, Prose, StandsFor, Text

FEWEST, MOST, LONGEST = 2, 5, 60

Choices = Annotated[
    Prose,
    About(
        "2 to 5 answers of at most 60 characters; a reply takes one as its `choice`.",
        {"minItems": FEWEST, "maxItems": MOST},
        items={"maxLength": LONGEST},
    ),
]
Choice = Annotated[
    Text,
    StandsFor("text"),
    About("In a reply: which of the message's `choices`; its `text` without one."),
]


def clean_choices(value: Sequence[str] | None, caller: Caller) -> tuple[str, ...]:
    """The answers in a line each, () for none. Raises InvalidInput."""
    if not value:
        return ()
    choices = [clean_title(each, f"choices[{n}]", at_most=LONGEST) for n, each in enumerate(value)]
    if not FEWEST <= len(choices) <= MOST:
        raise InvalidInput(
            f"choices has {len(choices)} {'entry' if len(choices) == 1 else 'entries'}; "
            f"a question has {FEWEST} to {MOST}.",
            hint="Leave `choices` out for a message that is answered in words.",
        )
    if len({_key(each) for each in choices}) < len(choices):
        raise InvalidInput("choices has an entry twice.", hint="Each answer is another one.")
    for position, each in enumerate(choices):
        refuse_secret(each, f"choices[{position}]", caller)
    return tuple(choices)


def choice_taken(choice: str | None, text: str, offered: Sequence[str]) -> str:
    """Which of the choices of the message that a reply answers it takes; "" for none.

    A text that is one of them takes it as well. Raises InvalidInput for a `choice` that is none.
    """
    by_key = {_key(each): each for each in offered}
    if choice is None:
        return by_key.get(_key(text), "")
    if not offered:
        raise InvalidInput(
            f"choice: {shown(choice)}; the message that reply_to names has no choices.",
            hint="Leave `choice` out and answer in `text`.",
        )
    if (taken := by_key.get(_key(choice))) is None:
        raise unknown_word("choice", choice, list(offered))
    return taken


def _key(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".!")
