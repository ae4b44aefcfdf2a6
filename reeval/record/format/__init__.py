"""What a record looks like on disk."""
