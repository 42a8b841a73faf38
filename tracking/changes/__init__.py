"""Changes of files: who did what to which, and when."""
