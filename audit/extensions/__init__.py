"""Extensions: folders that the core does without; each imports the public names of the core and itself."""
