"""The closed half as an encrypted file that is only ever opened in memory."""
