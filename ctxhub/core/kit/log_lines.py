"""The format of the log: one line for each record, a traceback for failures, and no credential in any.

Characters that nobody sees are marked: some of them end a line, or turn its direction.
"""

import copy
import logging

from ctxhub.core.text.invisible import marked
from ctxhub.core.text.secrets import mask_secrets


class LineFormatter(logging.Formatter):
    """Masks credentials everywhere: in addresses of the access log, messages and tracebacks.

    A request that was refused (403, 404, ...) is no failure of the hub, and has no traceback.
    """

    def format(self, record: logging.LogRecord) -> str:
        if getattr(record, "status_code", 500) < 500:
            record = copy.copy(record)
            record.exc_info = record.exc_text = None
        return marked(mask_secrets(super().format(record))[0])
