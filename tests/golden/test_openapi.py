"""What the REST API takes and answers, as its OpenAPI document says."""

import json

from drf_spectacular.generators import SchemaGenerator

from tests.golden.comparing import compare
from tests.golden.openapi_lines import lines_of


def test_openapi() -> None:
    document = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    plain = json.loads(json.dumps(document, default=str))
    compare("openapi.txt", "\n".join([*lines_of(plain), ""]))
