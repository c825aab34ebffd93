"""Pictures to rows of the model's input: files read and cut into patches, a patch encoder, a projector."""
