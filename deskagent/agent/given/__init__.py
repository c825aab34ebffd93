"""What a person and a project give to a conversation as files: instructions, skills, subagents, commands, hooks."""
