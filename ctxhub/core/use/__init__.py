"""Use: calls, and the tokens of their answers, by agent, operation and hour; searches that found nothing."""
