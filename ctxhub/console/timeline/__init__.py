"""The timeline: what the agents of a project did in a period, drawn as lanes and told by agent."""
