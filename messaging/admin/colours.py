"""Label colours by label text; labels not listed here have no colour."""

from collections.abc import Mapping

from ctxhub.core.admin.columns import PRIORITY_COLOURS

TYPE_COLOURS = {"decision": "info", "warning": "warning", "request": "primary"}
STATE_COLOURS = {"open": "warning", "claimed": "info", "done": "success"}

# Template context variables.
COLOURS: Mapping[str, Mapping[str, str]] = {
    "type_colours": TYPE_COLOURS,
    "priority_colours": PRIORITY_COLOURS,
    "state_colours": STATE_COLOURS,
}
