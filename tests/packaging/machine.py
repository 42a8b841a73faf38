"""A machine to try an installation on: this one's files, with systemd, processes and a network of its own.

What it writes is in memory and goes with it; nothing reaches this machine, whose files are below an overlay.
Needs Linux, root, systemd and slirp4netns, by which it reaches package registries.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from tests.timing import wait_until

NEEDED = ("unshare", "nsenter", "slirp4netns", "systemctl", "mount")
NAMESPACES = (
    *("unshare", "--fork", "--kill-child"),
    *("--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup"),
)
ENTER_GROUP = 'echo $$ >"$0/cgroup.procs"; exec "$@"'
SECONDS_PER_STEP = 900

# Systemd starts no devices and sets no variables of the kernel where /sys and /proc/sys are read-only.
START = """
set -eu
mount --make-rprivate /
mount -t tmpfs -o size=8g tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
root=$1/root
mount -t overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" overlay "$root"
mount -t proc proc "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
for folder in dev run tmp; do mount -t tmpfs -o mode=755 tmpfs "$root/$folder"; done
chmod 1777 "$root/tmp"
mkdir "$root/dev/pts" "$root/dev/shm"
for device in null zero full random urandom tty; do
    touch "$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ip link set lo up 2>/dev/null || true
rm -f "$root/usr/sbin/policy-rc.d"
exec env -i container=ctxhub PATH=/usr/sbin:/usr/bin:/sbin:/bin \\
    chroot "$root" /lib/systemd/systemd --unit=basic.target --log-target=null
"""


class Failed(Exception):
    """A step failed. The message is what it printed."""


class Machine:
    """A started one; `init` is its first process, as this machine numbers it."""

    def __init__(self, init: int) -> None:
        self.init = init

    @property
    def root(self) -> Path:
        """Its files, as this machine reaches them."""
        return Path(f"/proc/{self.init}/root")

    def write(self, path: str, text: str) -> None:
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def run(self, script: str, *, user: str = "root", given: str = "", expected: int = 0) -> str:
        """What a shell script prints, run as after a sign-in, and ended by the first command that fails.

        Raises Failed if it does not end with the expected code.
        """
        self.write("/tmp/step", script)
        done = subprocess.run(
            [*self._entering(), "runuser", "--login", user, "--command", "bash -eu /tmp/step"],
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS_PER_STEP,
            check=False,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "TERM": "dumb"},
            start_new_session=True,  # Without a terminal, programs ask on their input.
        )
        if done.returncode != expected:
            raise Failed(f"exit code {done.returncode}:\n{script}\n{done.stdout}")
        return done.stdout

    def _entering(self) -> list[str]:
        kinds = ("mount", "pid", "net", "uts", "ipc", "cgroup", "root", "wd")
        return ["nsenter", f"--target={self.init}", *(f"--{kind}" for kind in kinds)]


def missing_programs() -> list[str]:
    """What a machine needs and this one has not."""
    return [*(["root"] if os.geteuid() else []), *(name for name in NEEDED if shutil.which(name) is None)]


@contextmanager
def started() -> Iterator[Machine]:
    """A machine on which systemd runs, without services."""
    with tempfile.TemporaryDirectory(prefix="ctxhub-machine-") as folder, _control_group() as group:
        process = subprocess.Popen(
            ["sh", "-c", ENTER_GROUP, group, *NAMESPACES, "bash", "-c", START, "-", folder],
            stdin=subprocess.DEVNULL,
        )
        network = None
        try:
            init = _wait_for_child(process)
            network = subprocess.Popen(
                ["slirp4netns", "--configure", "--disable-host-loopback", str(init), "tap0"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            machine = Machine(init)
            wait_until(lambda: process.poll() is not None or _is_started(machine))
            yield machine
        finally:
            if network is not None:
                network.kill()
                network.wait()
            process.kill()
            process.wait()


@contextmanager
def _control_group() -> Iterator[str]:
    """A control group of its own, so that systemd changes no other one."""
    found = subprocess.run(
        ["findmnt", "-t", "cgroup2", "-n", "-o", "TARGET"], capture_output=True, text=True, check=False
    ).stdout.split()
    if not found:
        raise Failed("There is no cgroup2 here, which systemd needs.")
    group = Path(tempfile.mkdtemp(prefix="ctxhub-machine-", dir=found[0]))
    try:
        yield str(group)
    finally:
        _remove(group)


def _remove(group: Path) -> None:
    """Remove a control group and those in it, once their processes have ended."""
    for each in [*sorted((each for each in group.rglob("*/") if each.is_dir()), reverse=True), group]:
        wait_until(partial(_is_removed, each))


def _is_removed(group: Path) -> bool:
    with suppress(OSError):
        group.rmdir()
    return not group.exists()


def _wait_for_child(process: "subprocess.Popen[bytes]") -> int:
    """The first process in the new namespaces, once `unshare` has forked it."""
    own = Path(f"/proc/{process.pid}")
    children = own / "task" / str(process.pid) / "children"
    wait_until(lambda: (own / "comm").read_text() == "unshare\n" and children.read_text() != "")
    return int(children.read_text().split()[0])


def _is_started(machine: Machine) -> bool:
    try:
        machine.run("systemctl is-active basic.target")
    except (Failed, OSError):
        return False
    return True
