"""Questions about this machine, each answered with evidence."""
