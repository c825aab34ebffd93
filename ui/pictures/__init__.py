"""Pictures from the person's desktop, and as they are shown in a terminal."""
