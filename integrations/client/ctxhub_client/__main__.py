"""Runs the client: with `python3 -m`, by its path, by that of its folder, and in an archive."""

import os
import sys

if not __package__:
    folder, name = os.path.split(os.path.dirname(os.path.abspath(__file__)))
    if name == "ctxhub_client":
        sys.path.insert(0, folder)

from ctxhub_client.commands import main

main(sys.argv[1:])
