"""The hub: stats, updates, named views, and reading any object by its ref."""
