"""Addresses, encryption, signatures, and when to try again, without a database."""
