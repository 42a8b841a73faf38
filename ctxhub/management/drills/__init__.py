"""The drill: a backup is restored beside the hub, and compared with what was backed up."""
