"""Pure tensor functions, each with a reference, a CPU and a Triton implementation of one signature."""
