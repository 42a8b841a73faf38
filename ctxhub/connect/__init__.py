"""The client, as the hub serves it: `ctxhub.pyz`, and a page that says what it is."""
