"""Events of a session into what is shown. Nothing here knows of Textual."""
