"""What a row of a list shows, from the columns of its admin: a title, a text, quiet facts, and its state."""

import re
from collections.abc import Callable, Iterator, Sequence
from html import unescape
from typing import Any

from django.contrib.admin.utils import label_for_field, lookup_field
from django.core.exceptions import ObjectDoesNotExist
from django.db.models import ManyToOneRel
from django.forms import Form
from django.utils.html import strip_tags
from django.utils.safestring import SafeString, mark_safe
from unfold.utils import display_for_field, display_for_label, display_for_value

from ctxhub.console.rows.sparklines import Sparkline
from ctxhub.core.kit.frozen import frozen

CHECKBOX = "action_checkbox"
TAGS = "tagged"
# Values that say by themselves what they are, and times, of which the first stands at the end of the row.
_SPEAKS = re.compile(r'class="ctx-name')
_TIME = "<time"


@frozen
class RowParts:
    """Which columns of `list_display` a row shows where; all others are its quiet facts, in their order.

    `title`: the first column, if none is named; it may be any method of the admin. `text`: how the object
    begins, on the same line. `state`: the columns with labels, and the tags, if none are named.
    """

    title: str = ""
    text: str = ""
    state: Sequence[str] | None = None


@frozen
class Cell:
    """`value` is a text, or HTML that is marked as safe. `label`: what it is; "" if the value says so."""

    name: str
    value: str
    label: str = ""

    @property
    def plain(self) -> str:
        """The value as text, for the tooltip of what is cut."""
        is_html = hasattr(self.value, "__html__")
        return " ".join((unescape(strip_tags(self.value)) if is_html else self.value).split())


@frozen
class Row:
    """`number`: its place in the whole list, from 0. `url`: its page; "" if it has none."""

    pk: Any
    number: int
    url: str
    title: Cell
    text: Cell | None
    facts: Sequence[Cell]
    state: Sequence[Cell]
    time: Cell | None
    sparkline: Sparkline | None
    form: Form | None


class RowView:
    """Reads the rows of one page of a list."""

    def __init__(self, model_admin: Any, columns: Sequence[Any]) -> None:
        self.model_admin = model_admin
        parts: RowParts = model_admin.row_parts
        self.columns = [name for name in columns if name not in (CHECKBOX, self._dragged)]
        self.title = parts.title or self.columns[0]
        self.text = parts.text
        self.state = parts.state

    @property
    def _dragged(self) -> str:
        return getattr(self.model_admin, "ordering_field", None) or ""

    def read(
        self, row: Any, number: int, url: str, sparkline: Sparkline | None = None, form: Form | None = None
    ) -> Row:
        others = [name for name in self.columns if name not in (self.title, self.text)]
        cells = [(cell, is_label) for name in others for cell, is_label in self._cells(row, name)]
        facts = [cell for cell, is_label in cells if not self._is_state(cell.name, is_label)]
        time = next((cell for cell in facts if _TIME in cell.value), None)
        facts.sort(key=lambda cell: bool(cell.label))  # Names come first: they need no label.
        return Row(
            pk=row.pk,
            number=number,
            url=url,
            # `str` may read what the list left out, and is asked only for a row without a title.
            title=next((cell for cell, _ in self._cells(row, self.title)), None) or Cell("", str(row)),
            text=next((cell for cell, _ in self._cells(row, self.text)), None) if self.text else None,
            facts=[cell for cell in facts if cell is not time],
            state=[cell for cell, is_label in cells if self._is_state(cell.name, is_label)],
            time=time,
            sparkline=sparkline,
            form=form,
        )

    def _is_state(self, name: str, is_label: bool) -> bool:
        return is_label or name == TAGS if self.state is None else name in self.state

    def _cells(self, row: Any, column: str | Callable[..., Any]) -> Iterator[tuple[Cell, bool]]:
        """The cell of a column, and whether it is a label; nothing for an empty one."""
        value, label = self._shown(row, column)
        if value in (None, "", "-"):
            return
        html = display_for_label(value, "", label) if label else display_for_value(value, "", False)
        if isinstance(html, SafeString):  # Rows cut what does not fit; nothing in them wraps.
            html = mark_safe(html.replace("<wbr>", ""))  # noqa: S308
        name = column if isinstance(column, str) else column.__name__
        described = "" if _SPEAKS.search(str(html)) else self._label(column)
        yield Cell(name, html, described), bool(label)

    def _shown(self, row: Any, column: str | Callable[..., Any]) -> tuple[Any, Any]:
        try:
            field, method, value = lookup_field(column, row, self.model_admin)
        except ObjectDoesNotExist:
            return "", False
        if field is None or field.auto_created:
            return value, getattr(method, "label", False)
        if isinstance(field.remote_field, ManyToOneRel):
            return getattr(row, field.name), False
        return (display_for_field(value, field, "") if value not in (None, "") else ""), False

    def _label(self, column: str | Callable[..., Any]) -> str:
        return str(label_for_field(column, self.model_admin.model, model_admin=self.model_admin))
