"""Builds the wheel of this folder for pip (PEP 517), so that it can be installed without a network."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import zipfile

PACKAGE = "ctxhub_client"
# A fixed time, as zip has none before it.
DATE = (1980, 1, 1, 0, 0, 0)


def build_wheel(
    wheel_directory: str, config_settings: object = None, metadata_directory: str | None = None
) -> str:
    """Write the wheel, and return its name."""
    del config_settings, metadata_directory
    project = read_project()
    info = "{}-{}.dist-info".format(PACKAGE, project["version"])
    files = dict(read_package(), **{info + "/" + name: text for name, text in metadata(project).items()})
    files[info + "/RECORD"] = record(files, info + "/RECORD")
    name = "{}-{}-py3-none-any.whl".format(PACKAGE, project["version"])
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in sorted(files.items()):
            wheel.writestr(zipfile.ZipInfo(path, DATE), content)
    return name


def read_project() -> dict[str, str]:
    """The texts of pyproject.toml: Python reads that format itself only from 3.11 on. And the version."""
    with open("pyproject.toml", encoding="utf-8") as file:
        texts = dict(re.findall(r'(?m)^([\w-]+) = "(.*)"$', file.read()))
    with open(os.path.join(PACKAGE, "version.py"), encoding="utf-8") as file:
        [release] = re.findall(r'(?m)^RELEASE = "(.*)"$', file.read())
    return dict(texts, version=release)


def read_package() -> dict[str, bytes]:
    found = {}
    for folder, _, names in os.walk(PACKAGE):
        for name in names:
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[path.replace(os.sep, "/")] = file.read()
    return found


def metadata(project: dict[str, str]) -> dict[str, bytes]:
    texts = {
        "METADATA": "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: {description}\n"
        "License: {license}\nRequires-Python: {requires-python}\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: ctxhub\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "entry_points.txt": "[console_scripts]\nctxhub = {ctxhub}\n",
    }
    return {name: text.format_map(project).encode() for name, text in texts.items()}


def record(files: dict[str, bytes], own: str) -> bytes:
    """Each file with its digest and its size, as pip checks them."""
    lines = [
        "{},sha256={},{}".format(path, encoded_digest(content), len(content))
        for path, content in sorted(files.items())
    ]
    return "\n".join([*lines, own + ",,", ""]).encode()


def encoded_digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
