"""What people see of files, who changed them and who has reserved them."""

from tracking.admin import changes, leases, overview, resources

__all__ = ["changes", "leases", "overview", "resources"]
