"""The values that a traced function reads besides its arguments, and whether they have changed."""
