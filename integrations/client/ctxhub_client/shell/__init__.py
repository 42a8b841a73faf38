"""What commands of a shell write, which no hook is asked about: found afterwards, by git."""
