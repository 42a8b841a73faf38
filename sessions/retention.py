"""Registers the cleanup tasks that delete old sessions, accesses, and what agents were given."""

from ctxhub.core.events.services.cleanup import cleanup_tasks
from sessions.briefings.services.recording import clean_briefings
from sessions.sittings.services.cleaning import clean_accesses, clean_sessions

cleanup_tasks += [
    lambda project_id, now, config: clean_sessions(project_id, now, config.session_days),
    lambda project_id, now, config: clean_accesses(project_id, now, config.access_days),
    lambda project_id, now, config: clean_briefings(project_id, now, config.access_days),
]
