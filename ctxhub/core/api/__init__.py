"""The REST kit: views, bodies, queries, errors, schema; and the endpoints of core."""
