"""What a serving process counts of itself, for Prometheus: `/metrics`. Nothing of it is loaded over stdio."""
