"""Language models over HTTP, and a fake one."""
