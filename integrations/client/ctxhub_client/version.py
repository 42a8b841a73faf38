"""The version: the release, and which files it is made of. One version always has the same files."""

from __future__ import annotations

import hashlib
import os

RELEASE = "0.1.0"
# What the archive says of itself.
BUILT = "built.py"


def version() -> str:
    try:
        from ctxhub_client.built import VERSION  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return version_of(own_files())
    return str(VERSION)


def version_of(files: dict[str, bytes]) -> str:
    """A local version of PEP 440, of files by their names: 0.1.0+1a2b3c4d."""
    found = hashlib.sha256()
    for name, content in sorted(files.items()):
        found.update("{}\0{}\0".format(name, len(content)).encode() + content)
    return "{}+{}".format(RELEASE, found.hexdigest()[:8])


def own_files() -> dict[str, bytes]:
    """The modules of the package, by their paths in it, with lines that end alike on each system."""
    top = os.path.dirname(os.path.abspath(__file__))
    files = {}
    for folder, _, names in os.walk(top):
        for name in names:
            if name.endswith(".py") and name != BUILT:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    content = file.read().replace(b"\r\n", b"\n")
                files[os.path.relpath(path, top).replace(os.sep, "/")] = content
    return files
