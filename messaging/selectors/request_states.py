"""Labels of request states."""

from ctxhub.core.kit.errors import unknown_word
from messaging.models import RequestState

STATES = [str(state.label) for state in RequestState if state]


def clean_state(value: str | int) -> RequestState:
    """The state with this label or number; `none` is refused."""
    label = str(value).strip().lower()
    for state in RequestState:
        if state and label in (state.label, str(state.value)):
            return state
    raise unknown_word("state", value, STATES)
