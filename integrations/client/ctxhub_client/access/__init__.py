"""Tokens that a person has approved: asked for by a code, kept for the user alone, renewed, given back."""
