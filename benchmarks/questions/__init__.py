"""Questions with known answers over 2,000 entries: what search is measured with."""
