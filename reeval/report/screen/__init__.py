"""What a run looks like on a screen: pure text from records."""
