"""The API: JSON for everything that the pages do, described in /openapi.json."""
