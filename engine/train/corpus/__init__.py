"""What is learnt from: files of permissively licensed packages, named in a lock file."""
