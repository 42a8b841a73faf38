"""Runs the steps of docs/team-server.md as printed, on a machine of its own.

`python -m tests.packaging.team_server`; the first step that fails ends it with code 1 and what was printed.
It takes some minutes, and installs from package registries. What is not as printed stands in this module: who
answers the questions, and what only a reader knows.
"""

import json
import re
import signal
import sys
import time
from collections.abc import Callable

from ctxhub import env
from tests.packaging.machine import Failed, Machine, missing_programs, started
from tests.packaging.page import Block, team_server_blocks

FOLDER, USER, HOST = "/srv/ctxhub", "ctxhub", "hub.example.com"
REPOSITORY = "/var/tmp/ctxhub.git"
PASSWORD = "aPasswordOfThisTrial"  # Of a database that goes with the machine.
SECONDS_TO_STOP = 30
READY = "http://127.0.0.1:8000/readyz"
WAIT_UNTIL_READY = f"curl --fail --silent --show-error --retry 60 --retry-delay 1 --retry-all-errors {READY}"
SIGN = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={HOST} -addext subjectAltName=DNS:{HOST}"

NOT_RUN = {
    'sqlite3 var/ctxhub.sqlite3 "VACUUM': "it is for SQLite: tests/core/test_docs_backup.py runs it",
    'for end in "" -wal -shm': "it is for SQLite: tests/core/test_docs_backup.py runs it",
    "The backup can be restored: ": "it is what a command prints",
    "(umask 077 && cat > .env)": "it needs Docker",
    "docker compose exec hub": "it needs Docker",
    "docker compose stop hub": "it needs Docker",
    "docker build --tag": "it needs Docker",
}


class Trial:
    """One run of the page. `name` is that of the agent ada's token, once the page has made it."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.name = ""

    # -- What a block says to do ------------------------------------------------------------------

    def run(self, block: Block) -> None:
        """Do what it says. Raises Failed."""
        mark = next((mark for mark in SPECIAL if mark in block.text), "")
        if block.target:
            self.machine.write(block.target, block.text)
        elif mark:
            SPECIAL[mark](self, block)
        elif found := re.match(r"(?:\S+ ){5}(.*)", block.text) if not block.language else None:
            self.as_hub(found[1])
        else:
            self.lines(block.text)

    def lines(self, text: str) -> str:
        """Lines with `sudo`, and those before and after them: each by whom the page says."""
        printed = ""
        for part in re.split(r"^((?:sudo .*\n)+)", text, flags=re.MULTILINE):
            if part.startswith("sudo "):
                printed += self.machine.run(part)
            elif part:
                printed += self.as_hub(part)
        return printed

    def as_hub(self, script: str) -> str:
        """As the hub's user in the checkout. `BACKUP` stays set, as in one shell."""
        kept = "/tmp/kept-variables"
        keep = f'[ -z "${{BACKUP-}}" ] || declare -p BACKUP >{kept}'
        script = script.replace("REPOSITORY", REPOSITORY).replace("ctx_AbC123", self.name)
        return self.machine.run(f"[ ! -e {kept} ] || . {kept}\n{script.rstrip()}\n{keep}\n", user=USER)

    # -- Before and after -------------------------------------------------------------------------

    def prepare(self) -> None:
        """What the page takes for granted: sudo, a repository, the host's name and a certificate for it."""
        self.machine.write("/etc/apt/apt.conf.d/99-yes", 'APT::Get::Assume-Yes "true";\n')
        self.machine.run(f"""
            export DEBIAN_FRONTEND=noninteractive
            apt-get update --quiet=2
            apt-get install --quiet=2 sudo curl ca-certificates openssl git >/dev/null
            hostname {HOST}
            echo '127.0.0.1 {HOST}' >>/etc/hosts
            echo 'Defaults env_keep += DEBIAN_FRONTEND' >/etc/sudoers.d/trial
            echo 'export DEBIAN_FRONTEND=noninteractive' >/etc/profile.d/trial.sh
            git config --system safe.directory '*'
            git config --system user.name Trial
            git config --system user.email trial@example.com
            git init --quiet --bare --initial-branch=main {REPOSITORY}
            git -C {env.ROOT} push --quiet {REPOSITORY} HEAD:refs/heads/main
            {SIGN} -keyout /etc/ssl/{HOST}.key -out /etc/ssl/{HOST}.pem 2>/dev/null
            cp /etc/ssl/{HOST}.pem /usr/local/share/ca-certificates/{HOST}.crt
            update-ca-certificates >/dev/null
        """)

    def call(self, path: str, body: object = None) -> str:
        """The answer over TLS, with the token of `setup`; again where 503 says so, as after a restore.

        Raises Failed for other statuses from 400 on.
        """
        data = f"--data '{json.dumps(body)}'" if body else ""
        return self.machine.run(
            "curl --fail-with-body --silent --show-error --retry 10 "
            f'--header "Authorization: Bearer $(cat {FOLDER}/var/setup_token)" '
            f"--header 'Content-Type: application/json' {data} https://{HOST}{path}"
        )

    def record(self, key: str) -> None:
        self.call("/api/v1/projects/apollo/decisions/", {"key": key, "value": "kept"})

    def keys(self) -> set[str]:
        return set(re.findall(r'"key": ?"([^"]+)"', self.call("/api/v1/projects/apollo/decisions/")))

    def wait_until_ready(self) -> None:
        self.machine.run(WAIT_UNTIL_READY)


def expect(holds: bool, otherwise: object) -> None:
    if not holds:
        raise Failed(f"Not as the page says: {otherwise}")


# -- What is not run as printed alone --------------------------------------------------------------


def install_packages(trial: Trial, block: Block) -> None:
    """Services that were installed before do not start by themselves on this machine."""
    trial.lines(block.text)
    trial.machine.run("systemctl start postgresql nginx")


def create_role(trial: Trial, block: Block) -> None:
    trial.machine.run(block.text, given=f"{PASSWORD}\n{PASSWORD}\n")


def configure(trial: Trial, block: Block) -> None:
    expect(set(re.findall(r"^(\w+)=", block.text, re.MULTILINE)) > {"DATABASE_URL"}, block.text)
    trial.as_hub(f"cat >.env <<'END'\n{block.text.replace('PASSWORD', PASSWORD)}END")


def serve_and_stop(trial: Trial, block: Block) -> None:
    """In the foreground until SIGTERM."""
    printed = trial.as_hub(f"""
        {block.text.strip()} & serving=$!
        {WAIT_UNTIL_READY}
        began=$SECONDS
        kill -TERM $serving
        wait $serving || ended=$?
        echo "ended with ${{ended-0}} after $((SECONDS - began)) s"
    """)
    [(code, seconds)] = re.findall(r"^ended with (\d+) after (\d+) s", printed, re.MULTILINE)
    expect(code in {"0", "143"} and int(seconds) <= SECONDS_TO_STOP, printed)


def start_unit(trial: Trial, block: Block) -> None:
    trial.machine.run("systemd-analyze verify /etc/systemd/system/ctxhub.service")
    trial.lines(block.text)
    trial.wait_until_ready()


def start_proxy(trial: Trial, block: Block) -> None:
    printed = trial.lines(block.text)
    expect('"status": "ok"' in printed, printed)


def make_tokens(trial: Trial, block: Block) -> None:
    """`ctx_AbC123` stands for the name of ada's, which is rotated and revoked."""
    for line in block.text.splitlines(keepends=True):
        printed = trial.lines(line)
        if "--agent ada" in line:
            trial.name = re.findall(r"(ctx_[-\w]{6})[-\w]{20,}", printed)[0]
    trial.record("before/first-upgrade")


def log_no_invitations(trial: Trial, block: Block) -> None:
    """The block stands inside of the server's, with the headers of the other one."""
    file = trial.machine.root / "etc/nginx/conf.d/ctxhub.conf"
    server = file.read_text()
    headers = "".join(line + "\n" for line in server.splitlines() if "proxy_set_header" in line)
    file.write_text(
        server.replace(
            "    location / {",
            block.text.replace("        # and the headers as above\n", headers) + "\n    location / {",
        )
    )
    trial.machine.run("nginx -t && systemctl reload nginx")
    time.sleep(1)  # nginx's older processes answer for a moment.
    printed = trial.machine.run(
        f"curl --silent https://{HOST}/invitation/ctx_secret >/dev/null; curl --fail --silent https://{HOST}/healthz;"
        "cat /var/log/nginx/access.log"
    )
    expect("/healthz" in printed and "ctx_secret" not in printed, printed)


def start_timer(trial: Trial, block: Block) -> None:
    trial.machine.run("systemd-analyze verify /etc/systemd/system/ctxhub-backup.*")
    trial.lines(block.text)
    trial.machine.run("systemctl list-timers | grep ctxhub-backup && systemctl start ctxhub-backup.service")


def restore(trial: Trial, block: Block) -> None:
    trial.record("after/backup")
    trial.as_hub("BACKUP=$(ls /var/backups/ctxhub/*.tar | tail -n 1)\n" + block.text)
    expect(trial.keys() == {"before/first-upgrade"}, trial.keys())


def back_up_by_hand(trial: Trial, block: Block) -> None:
    trial.as_hub(f"set -a; . ./.env; set +a\n{block.text}")


def restore_by_hand(trial: Trial, block: Block) -> None:
    """With the hub stopped, and `after_restore`, which the text below the block says."""
    trial.record("after/backup")
    trial.machine.run("systemctl stop ctxhub")
    trial.as_hub(f"set -a; . ./.env; set +a\n{block.text}.venv/bin/python manage.py after_restore")
    trial.machine.run("systemctl start ctxhub")
    trial.wait_until_ready()
    expect(trial.keys() == {"before/first-upgrade"}, trial.keys())


def upgrade(trial: Trial, block: Block) -> None:
    """To a version with one more migration."""
    trial.machine.run(f"""
        git clone --quiet {REPOSITORY} /var/tmp/next && cd /var/tmp/next
        last=$(ls memory/migrations/0*.py | sort | tail -n 1 | xargs basename --suffix=.py)
        cat >memory/migrations/9000_next.py <<END
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("memory", "$last")]
END
        echo '# The next version.' >>pyproject.toml
        git add . && git commit --quiet --message 'Next version.' && git push --quiet
    """)
    trial.lines(block.text)
    trial.wait_until_ready()
    printed = trial.as_hub(".venv/bin/python manage.py showmigrations memory")
    expect("[X] 9000_next" in printed, printed)
    expect(trial.keys() == {"before/first-upgrade"}, trial.keys())


SPECIAL: dict[str, Callable[[Trial, Block], None]] = {
    "apt-get install": install_packages,
    "createuser --pwprompt": create_role,
    "DATABASE_URL=postgres": configure,
    ".venv/bin/python manage.py serve": serve_and_stop,
    "enable --now ctxhub\n": start_unit,
    "systemctl reload nginx": start_proxy,
    "token create": make_tokens,
    "location ~ ^/(invitation": log_no_invitations,
    "enable --now ctxhub-backup.timer": start_timer,
    '.venv/bin/python manage.py restore "$BACKUP"': restore,
    "pg_dump --format": back_up_by_hand,
    "pg_restore --clean": restore_by_hand,
    "git pull\nmake": upgrade,
}


def main() -> int:
    if missing := missing_programs():
        sys.stderr.write(f"== Not tried: this needs {', '.join(missing)}.\n")
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # The machine ends, too.
    try:
        with started() as machine:
            trial = Trial(machine)
            trial.prepare()
            for block in team_server_blocks():
                began = time.monotonic()
                reason = next((NOT_RUN[mark] for mark in NOT_RUN if mark in block.text), "")
                if not reason:
                    trial.run(block)
                did = f"not run: {reason}" if reason else f"{time.monotonic() - began:.0f} s"
                print(f"{block.section}: {block.text.strip().splitlines()[0]} ({did})", flush=True)
    except Failed as failed:
        sys.stderr.write(f"== FAILED: {failed}\n")
        return 1
    print("The steps of docs/team-server.md work as printed.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
