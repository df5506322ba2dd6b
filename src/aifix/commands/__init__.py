"""One thin module a command; no logic that a library user could want."""
