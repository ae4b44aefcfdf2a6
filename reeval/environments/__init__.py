"""An environment becomes a content-addressed tree."""
