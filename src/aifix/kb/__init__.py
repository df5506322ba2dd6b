"""What aifix remembers, and the articles that people read."""
