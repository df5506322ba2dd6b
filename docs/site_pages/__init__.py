"""Writes the pages of the handbook site out of the rules, the articles, the commands and the schemas."""
