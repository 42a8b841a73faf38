"""Search over the lines of files, in folders that the operator allows."""
