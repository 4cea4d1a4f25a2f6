"""`make bench`: what the system can do on this machine, as ratios of one run."""
