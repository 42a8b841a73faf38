"""Texts of decisions: keys, values of about 60 tokens, reasons. The same for the same seed."""

from random import Random

AREAS = ("api", "auth", "billing", "build", "cache", "deploy", "events", "export", "forms", "import")
PARTS = (
    "client",
    "contract",
    "errors",
    "format",
    "limits",
    "naming",
    "retries",
    "schema",
    "storage",
    "timeouts",
)
CHOICES = (
    "Use cursor pagination with an opaque token, since offsets skip rows while others write.",
    "Validate at the edge and keep the domain free of HTTP types, so that workers can share it.",
    "Store timestamps in UTC and format them only where a person reads them.",
    "Retry idempotent calls three times with jitter, then surface the upstream's own message.",
    "Keep one connection pool for each process and close it on SIGTERM before draining requests.",
    "Prefer composition over a base class; the two handlers share nothing but their names.",
    "Return 409 with the current version, so that the caller can merge and send again.",
    "Cache the rendered fragment for five minutes, keyed by tenant, locale and revision.",
    "Write migrations that run online: add nullable, backfill in batches, then add the constraint.",
    "Log the request id, the tenant and the duration; never the body.",
    "Generate the TypeScript client from the schema in CI and fail the build when it drifts.",
    "Use argon2id with the library's defaults and rehash on the next successful login.",
)
REASONS = (
    "Measured on staging with a week of real traffic; the alternative was within noise but harder to run.",
    "Two incidents in March came from exactly this, and both were found late.",
    "The team knows this tool, and the migration path away from it is short.",
    "Chosen after a spike: less code, one dependency fewer, and the tests read better.",
)
TAGS = (
    *("api", "database", "performance", "security", "caching", "logging", "testing", "validation"),
    *("frontend", "backend", "ci", "release", "observability", "billing", "search", "mobile", "docs", "ux"),
)
SCOPES = tuple(f"{area}/{part}" for area in AREAS for part in PARTS[:6])


def key(number: int) -> str:
    return f"{AREAS[number % 10]}/{PARTS[number // 10 % 10]}/{number:06}"


def value(random: Random) -> str:
    return " ".join(random.sample(CHOICES, 3))


def reason(random: Random) -> str:
    return random.choice(REASONS)
