"""Statistics of decisions: numbers over time, how they grow, and which change most."""
