"""What people see of a hub: pages of Django's admin, in unfold's clothes."""

from ctxhub.core.admin import access_tokens, agents, events, people, projects, vocabulary

__all__ = ["access_tokens", "agents", "events", "people", "projects", "vocabulary"]
