from tracking.tools import changes, leases

__all__ = ["changes", "leases"]
