"""Ways to look at a privacy claim: each gathers plain data, and states its conclusions."""
