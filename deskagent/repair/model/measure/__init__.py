"""What a checkpoint is worth for repair: cases with one right edit among others, and two checkpoints side by side."""
