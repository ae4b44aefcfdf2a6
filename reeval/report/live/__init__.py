"""Who tells a run while it runs: plain lines, a live block, or events for a program."""
