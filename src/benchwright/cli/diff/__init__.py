"""What changed between two refinements: `benchwright diff`."""
