"""How is one value observed? What the matches are made of."""
