"""The bodies that receivers take: JSON for programs, sentences for chats."""
