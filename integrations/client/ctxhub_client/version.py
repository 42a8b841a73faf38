"""The version: the release, and which files it is made of. One version always has the same files."""

from __future__ import annotations

import os

# The hub's, which `make version` writes here, too: the client also runs without the hub's files.
RELEASE = "0.1.0"
# What the archive says of itself, and what follows from the sources.
BUILT = "built.py"


def version() -> str:
    return built_version() or version_of(own_sources())


def built_version() -> str:
    """That of an archive, and of what is unpacked of one; "" where the sources themselves run."""
    try:
        from ctxhub_client.built import VERSION  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return ""
    return str(VERSION)


def user_agent() -> str:
    """How the program calls itself at a hub."""
    return "ctxhub-client/{}".format(built_version() or RELEASE)


def version_of(sources: dict[str, bytes]) -> str:
    """A local version of PEP 440, of files by their names: 0.1.0+1a2b3c4d."""
    import hashlib

    digest = hashlib.sha256()
    for name, content in sorted(sources.items()):
        digest.update("{}\0{}\0".format(name, len(content)).encode() + content)
    return "{}+{}".format(RELEASE, digest.hexdigest()[:8])


def built_module() -> str:
    """What an archive, and what is unpacked of one, has in `built.py`."""
    return '"""Written when the archive was built."""\n\nVERSION = "{}"\n'.format(version())


def own_sources() -> dict[str, bytes]:
    """The modules of the package, by their paths in it, with lines that end alike on each system."""
    top = os.path.dirname(os.path.abspath(__file__))
    archive, name = os.path.split(top)
    found = read_archive(archive, name + "/") if os.path.isfile(archive) else read_folder(top)
    return {
        path: content.replace(b"\r\n", b"\n")
        for path, content in found.items()
        if path.endswith(".py") and path != BUILT
    }


def read_archive(archive: str, top: str) -> dict[str, bytes]:
    import zipfile

    with zipfile.ZipFile(archive) as file:
        return {name[len(top) :]: file.read(name) for name in file.namelist() if name.startswith(top)}


def read_folder(top: str) -> dict[str, bytes]:
    files = {}
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                files[os.path.relpath(path, top).replace(os.sep, "/")] = file.read()
    return files
