"""Parts of a record that several of its lines use."""
