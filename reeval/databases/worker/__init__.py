"""The process in which queries run: a query that takes all memory, or never ends, takes only this one down."""
