"""The parser of request bodies: JSON in UTF-8, of limited size."""

import json
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser
from rest_framework.utils.json import strict_constant


class JsonBody(JSONParser):
    """Raises ParseError for invalid JSON, RequestDataTooBig beyond DATA_UPLOAD_MAX_MEMORY_SIZE."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        limit: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise RequestDataTooBig
        try:
            return json.loads(body.decode(), parse_constant=strict_constant)
        except ValueError as error:
            raise ParseError(f"The body is not JSON: {error}.") from error
        except RecursionError as error:
            raise ParseError("The body is nested too deep.") from error
