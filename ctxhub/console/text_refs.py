"""The admin pages of what texts refer to."""

from collections.abc import Iterable, Mapping

from ctxhub.console.refs import page_of_row
from ctxhub.core.hub.text_refs import rows_of_texts

Pages = Mapping[str, str]
"""The URLs of pages by ref."""


def pages_of_texts(project_id: int, texts: Iterable[str]) -> Pages:
    """The pages of the rows of the project that the texts of a page refer to."""
    rows = rows_of_texts(project_id, texts)
    return {ref: url for ref, key in rows.items() if (url := page_of_row(*key))}
