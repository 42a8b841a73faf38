"""What agents say to one another: messages, threads, receipts."""
