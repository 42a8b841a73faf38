"""Static files and pages: compressed, and files cached for ever under the hash of their content."""

import gzip
import re

import pytest
from django.templatetags.static import static
from django.test import Client

from ctxhub.core.models import Project
from tests.people import VIEWER, member

pytestmark = pytest.mark.one_engine

GZIP = {"Accept-Encoding": "gzip, deflate, br"}
FOR_EVER = "public, max-age=31536000, immutable"


def test_a_hashed_file_is_compressed_and_cached_for_ever() -> None:
    url = static("ctxhub/admin.css")
    assert re.fullmatch(r"/static/ctxhub/admin\.[0-9a-f]{12}\.css", url)
    plain, small = Client().get(url), Client().get(url, headers=GZIP)
    assert gzip.decompress(small.content) == plain.content
    assert len(small.content) * 2 < len(plain.content)
    for answer in (plain, small):
        assert answer["Cache-Control"] == FOR_EVER
        assert answer["Vary"] == "Accept-Encoding"
        assert answer["Content-Type"] == 'text/css; charset="utf-8"'


def test_a_file_of_another_version_is_not_cached_for_ever() -> None:
    answer = Client().get("/static/ctxhub/admin.000000000000.css")
    assert answer.status_code == 200
    assert "immutable" not in answer["Cache-Control"]
    assert Client().get("/static/ctxhub/none.000000000000.css").status_code == 404


def test_a_stylesheet_names_the_hash_of_its_fonts() -> None:
    css = Client().get(static("unfold/fonts/inter/styles.css")).content.decode()
    fonts = re.findall(r"url\(([^)]*)\)", css)
    assert fonts
    for font in fonts:
        answer = Client().get(f"/static/unfold/fonts/inter/{font}", headers=GZIP)
        assert answer["Cache-Control"] == FOR_EVER
        assert "Content-Encoding" not in answer


def test_only_pages_of_the_admin_are_compressed(apollo: Project) -> None:
    client = member(apollo, VIEWER)
    page, again = (client.get("/admin/", headers=GZIP) for _ in range(2))
    assert page["Content-Encoding"] == again["Content-Encoding"] == "gzip"
    assert b"</html>" in gzip.decompress(page.content)
    for path in ("/api/v1/me/", "/api/schema/", "/healthz"):
        assert "Content-Encoding" not in client.get(path, headers=GZIP)
    assert "Content-Encoding" not in Client().post("/admin/login/", {"username": "ada"}, headers=GZIP)
