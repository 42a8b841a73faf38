"""What the hub notes of itself, of no project: its id, its last backup, restore and drill."""
