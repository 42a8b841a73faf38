"""The client of ctxhub: connects coding agents to a hub. It needs Python 3.8 or newer and nothing else."""
