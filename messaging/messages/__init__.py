"""Messages: threads, deliveries, receipts, requests."""
