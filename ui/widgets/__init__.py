"""The widgets of the app, a widget a file."""
