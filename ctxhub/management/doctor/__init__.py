"""What the command `doctor` looks at: each check is a function of `checks.CHECKS`, and changes nothing."""
