"""The hub at a glance: figures, updates, named views, and anything by its ref."""
