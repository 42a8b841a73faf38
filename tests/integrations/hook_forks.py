"""Forks a process for each run of the hook. A start of Python took most of a run.

`forked_hook.py` starts it as a script, with the Python of the hooks: 3.8 or newer.
"""

import array
import importlib
import json
import os
import signal
import socket
import struct
import sys
import traceback
from typing import Any, NoReturn

IMPORTED_BY_A_RUN = ("hashlib", "http.client", "urllib.parse")
LENGTH = struct.Struct("I")
DESCRIPTORS = 4


def serve(folder: str, requests: socket.socket) -> None:
    """Until the other end is closed."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        request, descriptors = receive(requests)
        if not request:
            return
        if os.fork() == 0:
            requests.close()
            report(folder, request, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def receive(requests: socket.socket) -> "tuple[dict[str, Any], list[int]]":
    """Folder and variables of a run, and where its stdin, stdout, stderr and exit code are."""
    descriptors = array.array("i")
    space = socket.CMSG_SPACE(DESCRIPTORS * descriptors.itemsize)
    length, ancillary, *_ = requests.recvmsg(LENGTH.size, space)
    if not length:
        return {}, []
    for _, _, data in ancillary:
        descriptors.frombytes(data)
    text = b""
    while len(text) < LENGTH.unpack(length)[0]:
        text += requests.recv(LENGTH.unpack(length)[0] - len(text))
    return json.loads(text), descriptors.tolist()


def report(folder: str, request: "dict[str, Any]", descriptors: "list[int]") -> NoReturn:
    """Run the hook in a child and write its exit code; that of a signal is negative."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *streams, code = descriptors
    child = os.fork()
    if child == 0:
        os.close(code)
        run(folder, request, streams)
    status = os.waitpid(child, 0)[1]
    os.write(code, b"%d" % (-os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)))
    os._exit(0)


def run(folder: str, request: "dict[str, Any]", streams: "list[int]") -> NoReturn:
    """As a process of its own does."""
    code = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["variables"])
        sys.path.insert(0, folder)
        importlib.import_module("ctxhub_client.commands").main(["hook", "claude"])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    for name in IMPORTED_BY_A_RUN:
        importlib.import_module(name)
    serve(sys.argv[1], socket.socket(fileno=int(sys.argv[2])))
