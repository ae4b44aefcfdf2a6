"""Plain data, no behaviour: what is declared, planned and recorded."""
