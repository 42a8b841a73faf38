"""The colours of labels, by their words; what is not here is plain."""

from collections.abc import Mapping

from ctxhub.core.admin.columns import PRIORITY_COLOURS

TYPE_COLOURS = {"decision": "info", "warning": "warning", "request": "primary"}
STATE_COLOURS = {"open": "warning", "claimed": "info", "done": "success"}

# As templates know them.
COLOURS: Mapping[str, Mapping[str, str]] = {
    "type_colours": TYPE_COLOURS,
    "priority_colours": PRIORITY_COLOURS,
    "state_colours": STATE_COLOURS,
}
