"""Connects the signal receivers of all nouns."""

import sessions.briefings.signals
import sessions.sittings.history
