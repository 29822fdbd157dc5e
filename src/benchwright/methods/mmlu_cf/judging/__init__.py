"""What judges of questions share: how they are asked, and how their replies are read."""
