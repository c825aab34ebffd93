"""What other agents keep on this machine, brought over: sessions, instructions, MCP servers, rules, skills.

A file a source says where it keeps what; nothing of a source is ever written.
"""
