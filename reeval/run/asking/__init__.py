"""Models are asked about attempts: what they are shown, in which words, and what they answer."""
