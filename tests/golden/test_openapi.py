"""Golden file of the OpenAPI document of the REST API."""

import json

from drf_spectacular.generators import SchemaGenerator

from tests.golden.comparing import compare
from tests.golden.openapi_lines import lines_of


def test_the_openapi_document() -> None:
    document = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    plain = json.loads(json.dumps(document, default=str))
    compare("openapi.txt", "\n".join([*lines_of(plain), ""]))
