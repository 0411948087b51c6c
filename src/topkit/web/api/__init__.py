"""The JSON API, which does everything that the pages do. It is described in /openapi.json."""
