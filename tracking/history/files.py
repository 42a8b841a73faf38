"""Records new files, and new contents of files, in the counters and the search index. They leave no event."""

from collections import Counter
from collections.abc import Sequence

from ctxhub.core.events.services.counters import add_to_counters, counter_key
from ctxhub.core.search.documents import Document
from ctxhub.core.search.services.index import index_documents


def record_files(project_id: int, *, new: Sequence[Document], changed: Sequence[Document]) -> None:
    """Count and index, as the last statements of the transaction."""
    add_to_counters(project_id, Counter({counter_key("resource"): len(new)}))
    index_documents(project_id, "resource", new, are_new=True)
    index_documents(project_id, "resource", changed)
