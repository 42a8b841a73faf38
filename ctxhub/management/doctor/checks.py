"""The table of checks, and their run: one that cannot be done is told as unknown, and stops no other."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from ctxhub.core.kit.frozen import frozen
from ctxhub.management.doctor import clients, configured, machine, safety, serving, stored
from ctxhub.management.doctor.findings import UNKNOWN, Finding

Check = Callable[[], Iterable[Finding]]


@frozen
class Found:
    """A finding, and of which check."""

    check: str
    state: str
    text: str
    fix: str


# In the order in which faults explain one another.
CHECKS: Mapping[str, Check] = {
    "python": machine.check_python,
    "settings": configured.check_settings,
    "rights": machine.check_rights,
    "disk": machine.check_disk,
    "secret_key": configured.check_secret_key,
    "hosts": configured.check_hosts,
    "tls": configured.check_tls,
    "proxy": configured.check_proxy,
    "grep_roots": machine.check_grep_roots,
    "database": stored.check_database,
    "migrations": stored.check_migrations,
    "replica": stored.check_replica,
    "connections": stored.check_connections,
    "clock": stored.check_clock,
    "index": stored.check_index,
    "backup": safety.check_backup,
    "drill": safety.check_drill,
    "hub": serving.check_hub,
    "workers": serving.check_workers,
    "client_version": clients.check_client_version,
    "clients": clients.check_clients,
    "tokens": clients.check_literal_tokens,
}


def examine(checks: Mapping[str, Check] = CHECKS, *, workers: int = 0) -> Iterator[Found]:
    """`workers`: how many `serve` is to have; 0: as many as there are."""
    chosen = dict(checks)
    if workers:
        chosen["connections"] = partial(stored.check_connections, workers)
    for name, check in chosen.items():
        for found in _found(check):
            yield Found(name, found.state, found.text, found.fix)


def _found(check: Check) -> list[Finding]:
    try:
        return list(check())
    except Exception as error:  # What one check meets keeps nobody from the others.
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        fix = "Mend what stands above, then run doctor again."
        return [Finding(UNKNOWN, f"could not be looked at: {reason}", fix)]
