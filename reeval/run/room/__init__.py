"""What does one attempt hold open? Its sandbox, its session, its servers and their variables."""
