"""The console: pages for people, on Django's admin with the unfold theme."""
