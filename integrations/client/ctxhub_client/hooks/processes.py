"""Which process of a client runs this one."""

from __future__ import annotations

import os
import re

# Between the client and the hook.
LAUNCHERS = re.compile(
    r"(?:ba|da|z|fi|k|c|tc)?sh(?:\.exe)?|env|timeout|nice|uv|python[\d.]*(?:\.exe)?|py", re.IGNORECASE
)

MOST_ANCESTORS = 8


def client_process() -> str:
    """The process of the client that runs this hook: its id and when it started, or what is known of it."""
    process = os.getppid()
    for _ in range(MOST_ANCESTORS):
        name, parent, started = process_facts(process)
        if not LAUNCHERS.fullmatch(name) or parent <= 1:
            return "{} {}".format(process, started)
        process = parent
    return str(process)


def process_facts(process: int) -> tuple[str, int, str]:
    """The name of a process, its parent, and when it started; "", 0 and "" where the system does not tell."""
    try:
        with open("/proc/{}/stat".format(process), "rb") as file:
            head, _, rest = file.read().decode("utf-8", "replace").rpartition(")")
        values = rest.split()
        return head.partition("(")[2], int(values[1]), values[19]
    except (OSError, ValueError, IndexError):
        pass
    if os.name == "nt":
        return "", 0, ""
    import subprocess

    done = subprocess.run(
        ["ps", "-o", "ppid=,lstart=,comm=", "-p", str(process)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=1,
        check=False,
    )
    values = done.stdout.decode("utf-8", "replace").split(None, 6)
    if len(values) < 7:
        return "", 0, ""
    return os.path.basename(values[6].strip()), int(values[0]), " ".join(values[1:6])
