"""The texts that tell agents of changed decisions."""

from collections.abc import Sequence
from typing import Any

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.secrets import find_secret
from ctxhub.core.text.sentences import in_one_line

SHOWN_CHARACTERS = 80
DEPRECATED = "deprecated"


@frozen
class ChangedDecision:
    """`was` and `now` are versions; `now` of a deprecated one is "deprecated", and `reason` says why."""

    id: int
    key: str
    was: str
    now: str
    was_value: str = ""
    now_value: str = ""
    reason: str = ""

    @property
    def ref(self) -> str:
        return f"decision:{self.key}"

    @property
    def notice(self) -> str:
        """The version that a notice is about: a decision may be changed and then deprecated."""
        return f"{DEPRECATED} {self.was}" if self.now == DEPRECATED else self.now

    @property
    def line(self) -> str:
        """What changed, from what to what, and how to read it."""
        what = self._deprecated() if self.now == DEPRECATED else self._changed()
        return f"{self.ref} {what} Read it: get {self.ref}"

    @property
    def payload(self) -> dict[str, Any]:
        return {"now": self.now, "ref": self.ref, "was": self.was}  # In the order in which jsonb keeps them.

    def _changed(self) -> str:
        was, now = _shown(self.was_value), _shown(self.now_value)
        values = f": {was} is now {now}" if was and now else ""
        return f"changed from {self.was} to {self.now}{values}."

    def _deprecated(self) -> str:
        reason = _shown(self.reason)
        return f"({self.was}) is deprecated{f': {reason}' if reason else ''}."


def message_of(decisions: Sequence[ChangedDecision]) -> tuple[str, Any]:
    """The text and the payload of a message about one decision, or about several at once."""
    payloads = [decision.payload for decision in decisions]
    text = "\n".join(decision.line for decision in decisions)
    return text, payloads[0] if len(payloads) == 1 else payloads


def _shown(text: str) -> str:
    """A text in one short line; "" for one that holds a credential, which may have to be deleted."""
    if find_secret(text):
        return ""
    line = in_one_line(text)
    line = f"{line[:SHOWN_CHARACTERS].rstrip()}…" if len(line) > SHOWN_CHARACTERS else line
    return line.rstrip(".")
