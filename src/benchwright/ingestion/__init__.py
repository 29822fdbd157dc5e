"""From the rows of a source to items: fields, rules that a row may break, purposes of splits."""
