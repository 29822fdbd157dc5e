"""The pages that runs write: one page kit, a folder per report."""
