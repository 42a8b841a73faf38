"""How property tests run: on a busy machine, neither an example nor drawing it is too slow.

The profile holds for all; `SHARED_FIXTURES` are the settings of those whose examples share the fixtures of
one test: `@settings(SHARED_FIXTURES, max_examples=100)`.
"""

from hypothesis import HealthCheck, settings

SLOW = (HealthCheck.too_slow,)
SHARED_FIXTURES = settings(deadline=None, suppress_health_check=[*SLOW, HealthCheck.function_scoped_fixture])


def use_profile() -> None:
    settings.register_profile("ctxhub", deadline=None, suppress_health_check=SLOW)
    settings.load_profile("ctxhub")
