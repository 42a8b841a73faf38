"""Tasks whose right rows are known, over 2,000 mixed rows: what a brief is measured with."""
