"""Registers the cleanup tasks that delete old sessions and accesses."""

from ctxhub.core.events.services.cleanup import cleanup_tasks
from sessions.sittings.services.cleaning import clean_accesses, clean_sessions

cleanup_tasks.append(clean_sessions)
cleanup_tasks.append(clean_accesses)
