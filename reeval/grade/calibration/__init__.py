"""How far can a judge be trusted: labelled examples, figures of agreement, their intervals."""
