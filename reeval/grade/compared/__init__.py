"""Did a change help? Pure statistics over the attempts of two sides; nothing here reads a record."""
