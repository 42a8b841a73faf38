"""ctxhub: shared context for AI coding agents and the people who run them."""

__version__ = "0.1.0"
