"""What a traced function reads besides its arguments, and whether that has changed since."""
