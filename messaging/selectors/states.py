"""The words for the state of a request."""

from ctxhub.core.kit.errors import unknown_word
from messaging.models import RequestState

STATES = [str(state.label) for state in RequestState if state]


def clean_state(said: str | int) -> RequestState:
    """The state of this word or number; `none` is no state to ask for."""
    word = str(said).strip().lower()
    for state in RequestState:
        if state and word in (state.label, str(state.value)):
            return state
    raise unknown_word("state", said, STATES)
