"""Which attempts of a record stand on which side, and what is recorded and told of their lift?"""
