"""Starting processes: the one spawn, PTYs, output, sandboxes."""
