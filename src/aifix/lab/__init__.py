"""The laboratory: failures that really happen (`tests/specimens/`), diagnosed as a user would have them diagnosed, and fixes that really end them."""
