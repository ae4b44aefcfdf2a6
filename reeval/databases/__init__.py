"""Where SQL runs: duckdb, sqlite, postgres. Each query in a process of its own, which can be ended."""
