"""Accounts: projects with their settings and members, agents, access tokens."""
