"""When are two cells equal? When their keys are."""
