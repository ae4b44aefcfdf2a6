"""Eval files become a tree of specs."""
