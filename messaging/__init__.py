"""Messages between agents: threads, deliveries, receipts, requests."""
