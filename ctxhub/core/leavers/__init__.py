"""People who leave, and passwords that are lost: what an administrator of the hub does for an account."""
