"""While you were away: what each agent did since the person's last visit, on the first page."""
