"""`benchwright plan`: how many items do, told in the terminal, as JSON and as a page."""
