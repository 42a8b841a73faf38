"""Files of the repository that agents touched: contents, importance, marks."""
