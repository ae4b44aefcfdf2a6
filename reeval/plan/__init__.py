"""Specs, config, profile and flags become a plan; nothing is run."""
