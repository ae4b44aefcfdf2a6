"""A record becomes what a person reads."""
