"""Backups: one archive of the database and the secret key, made and restored while the hub runs."""
