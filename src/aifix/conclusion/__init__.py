"""Where reason and rank meet: from candidates, or from measured facts, to diagnoses with their fixes in order."""
