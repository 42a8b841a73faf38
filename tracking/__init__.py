"""What agents touch: resources (files), changes, dependencies, leases."""
