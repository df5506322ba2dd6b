"""From hits to diagnoses: facts, refinements, cause and consequence, confidence."""
