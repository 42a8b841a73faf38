"""What a connection is offered besides tools: resources, prompts, and the completion of their arguments."""
