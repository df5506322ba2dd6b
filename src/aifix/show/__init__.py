"""What a report looks like: on a terminal, as JSON, SARIF, or annotations of GitHub Actions. Nothing here reads a log or knows a rule."""
