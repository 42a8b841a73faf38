"""Questions: choices of which a reply takes one, and what is addressed to the people of a project."""
