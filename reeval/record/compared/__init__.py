"""What does the history say of compares? Lifts, their measures, rates, and what a control passed last."""
