"""Probes: checks of this machine that confirm or refute what the log makes one suspect."""
