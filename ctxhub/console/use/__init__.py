"""The pages of use and cost."""
