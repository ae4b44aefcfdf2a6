"""How does an attempt run in a container? Through the API of Docker, or of what speaks it, such as Podman."""
