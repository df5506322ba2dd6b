int three(void) { return 1 + 2; }
