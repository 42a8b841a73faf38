"""The format of the log: one line for each record, and no credential in any."""

import logging

from ctxhub.core.text.secrets import mask_secrets


class LineFormatter(logging.Formatter):
    """Masks credentials everywhere: in addresses of the access log, messages and tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        return mask_secrets(super().format(record))[0]
