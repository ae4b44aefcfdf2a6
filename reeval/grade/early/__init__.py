"""Which attempts need not run, since their answer is known? Pure: one rule stops a run and reads its record."""
