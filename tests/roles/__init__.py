"""Who may do what: everybody who may ask, against every action, method, address and page.

The rows are made from the registry, the URLs and the admin site, what is expected from declared scopes and
roles. An exception is a row of a table, with its reason; one that no longer matters fails.
"""
