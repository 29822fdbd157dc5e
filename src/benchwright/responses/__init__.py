"""Import recorded responses, and combine them with live ones into response matrices."""
