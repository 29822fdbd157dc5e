"""The report of SMART: what each section says, and the page made of them."""
