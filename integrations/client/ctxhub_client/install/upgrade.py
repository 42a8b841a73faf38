"""Gets the program that the hub serves, and unpacks it in the place of this one."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile

from ctxhub_client.hub import open_connection
from ctxhub_client.install.files import Refused
from ctxhub_client.settings import address_problem, hub_address
from ctxhub_client.version import version

SECONDS = 30
MOST_BYTES = 20_000_000


def run_upgrade() -> int:
    """The exit code: 0 also if there is nothing newer."""
    try:
        told, content = fetch_program(hub_address())
        if told == version():
            sys.stdout.write("This is the version of the hub: {}.\n".format(told))
            return 0
        return install(content)
    except (Refused, OSError) as error:
        sys.stderr.write("{}\n".format(error))
        return 1


def fetch_program(url: str) -> tuple[str, bytes]:
    """The version that the hub names, and the archive. Raises Refused if the answer is another."""
    import http.client

    if problem := address_problem(url):
        raise Refused(problem)
    try:
        connection, prefix = open_connection(url, SECONDS)
        connection.request("GET", prefix + "/connect/ctxhub.pyz")
        answer = connection.getresponse()
        content = answer.read(MOST_BYTES)
    except http.client.HTTPException as error:
        raise Refused("The hub at {} does not answer as one: {!r}.".format(url, error)) from None
    told = answer.getheader("Ctxhub-Client-Version") or ""
    if answer.status != 200 or not told:
        raise Refused("The hub at {} serves no client: it answers {}.".format(url, answer.status))
    if hashlib.sha256(content).hexdigest() != answer.getheader("Ctxhub-Client-Sha256"):
        raise Refused("What the hub at {} has sent is not whole. Nothing was changed.".format(url))
    return told, content


def install(content: bytes) -> int:
    """Let the new program unpack itself, as it knows how."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "ctxhub.pyz")
        with open(file, "wb") as archive:
            archive.write(content)
        return subprocess.run([sys.executable, "-IS", file, "install"], check=False).returncode
