"""Questions to models: who is asked about, and what the answers add up to."""
