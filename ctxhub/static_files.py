"""Static files under names with a hash of their content: compressed, and cached by browsers for ever.

Names and compressed files are made when they are first asked for. Django makes all of them with
`collectstatic`: three seconds more at each start, and twice the disk.
"""

import gzip
import hashlib
import posixpath
import re
from functools import cache, lru_cache
from mimetypes import guess_type
from pathlib import Path
from typing import cast

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from whitenoise.middleware import WhiteNoiseMiddleware

FOR_EVER = "public, max-age=31536000, immutable"
COMPRESSED = (".css", ".js", ".svg")
FILES_KEPT = 64

_HASHED = re.compile(r"(.+)\.[0-9a-f]{12}(\.\w+)", re.ASCII)
_FONT = re.compile(rb"""url\((["']?)([\w./-]+\.woff2?)\1\)""")
_TAKES_GZIP = re.compile(r"\bgzip\b")


class HashedStorage(StaticFilesStorage):
    """Puts the hash of a file into its URL: `ctxhub/admin.1f2e3d4c5b6a.css`."""

    def url(self, name: str | None) -> str:
        return super().url(name if settings.DEBUG or not name else hashed_name(name))


@cache
def hashed_name(name: str) -> str:
    """The name with the hash of the file; the name itself if there is no such file."""
    content = read_file(name)
    if content is None:
        return name
    stem, suffix = posixpath.splitext(name)
    return f"{stem}.{hashlib.sha256(content).hexdigest()[:12]}{suffix}"


def read_file(name: str) -> bytes | None:
    """The content of a file. The fonts of a stylesheet have their hashed names, too."""
    path = finders.find(name)
    if path is None:
        return None
    content = Path(path).read_bytes()
    return _FONT.sub(lambda font: _hashed_font(name, font), content) if name.endswith(".css") else content


class StaticFiles(WhiteNoiseMiddleware):
    """Serves hashed names, and the other names as WhiteNoise does.

    Of an old hash, which a page asks for that was open during an update, it serves the file there is now.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:  # type: ignore[override]
        path = request.path_info
        plain = "".join(hashed.groups()) if (hashed := _HASHED.fullmatch(path)) else ""
        if path in self.files or plain not in self.files:
            return self._serve_plain(request)
        name = plain.removeprefix(self.static_prefix)
        if path == f"{self.static_prefix}{hashed_name(name)}":
            return _answer(request, name)
        request.path_info = plain
        return self._serve_plain(request)

    def _serve_plain(self, request: HttpRequest) -> HttpResponseBase:
        return cast("HttpResponseBase", super().__call__(request))  # type: ignore[no-untyped-call]


class CompressPages(GZipMiddleware):
    """Compresses pages of the admin, and no other answers.

    Django adds a random number of bytes, so that the length tells nothing of the content (BREACH). What is
    shown once, as a new token, answers a POST and is not compressed.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_page = request.method == "GET" and request.path.startswith("/admin/")
        is_html = response.get("Content-Type", "").startswith("text/html")
        return super().process_response(request, response) if is_page and is_html else response


def _answer(request: HttpRequest, name: str) -> HttpResponse:
    takes_gzip = bool(_TAKES_GZIP.search(request.headers.get("Accept-Encoding", "")))
    headers = {"Cache-Control": FOR_EVER}
    if not name.endswith(COMPRESSED):
        return HttpResponse(read_file(name), _content_type(name), headers=headers)
    headers["Vary"] = "Accept-Encoding"
    if takes_gzip:
        headers["Content-Encoding"] = "gzip"
    content = _compressed(name) if takes_gzip else read_file(name)
    return HttpResponse(content, _content_type(name), headers=headers)


def _content_type(name: str) -> str | None:
    kind = guess_type(name)[0]
    return f'{kind}; charset="utf-8"' if kind and kind.startswith("text/") else kind


@lru_cache(FILES_KEPT)
def _compressed(name: str) -> bytes:
    return gzip.compress(read_file(name) or b"", mtime=0)


def _hashed_font(stylesheet: str, font: re.Match[bytes]) -> bytes:
    name = posixpath.normpath(posixpath.join(posixpath.dirname(stylesheet), font[2].decode()))
    file = posixpath.basename(hashed_name(name))
    return b"url(%s)" % posixpath.join(posixpath.dirname(font[2].decode()), file).encode()
