"""The closed half as an encrypted file that is opened only in memory."""
