"""Our own engine as a provider: a checkpoint's folder, served by the engine's process. Nothing here imports torch."""
