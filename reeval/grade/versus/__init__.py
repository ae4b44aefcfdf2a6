"""What changed between two recorded runs? Pure: plans and attempts in, lifts and differences out."""
