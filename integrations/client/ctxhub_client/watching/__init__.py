"""Tells the model of a client, line by line, what concerns its session while it works or rests."""
