"""From bytes to a `Document`: clean numbered lines, ranks, tracebacks, and what kind of text it is."""
