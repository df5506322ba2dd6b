"""Which signature stands where: literal prefilter, linear-time regexes on the lines it hits, then likeness."""
