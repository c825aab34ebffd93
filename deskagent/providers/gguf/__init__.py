"""GGUF files by llama.cpp, in a process of their own: whatever happens to native code, the session goes on."""
