"""The engine in a process of its own, behind a unix socket: started on demand, shared, gone when idle."""
