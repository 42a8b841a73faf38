"""What agents are told: nudges, and messages about changed decisions and released leases."""
