"""What is known of earlier attempts that says what a plan will take?"""
