"""The YAML rules: load, validate, compile to the shipped form, lint, test, scaffold."""
