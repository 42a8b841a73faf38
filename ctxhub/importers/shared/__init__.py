"""What every import from another program's database needs; which program it is, the rooms beside it know."""
