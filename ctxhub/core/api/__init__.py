"""The REST API: base classes for views, bodies, queries, errors and schema; and the endpoints of core."""
