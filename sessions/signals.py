"""Connects the signal receivers of all nouns."""

import sessions.given.signals
import sessions.sittings.history
