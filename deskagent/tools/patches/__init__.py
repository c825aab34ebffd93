"""Patches as models write them: read from text, and put into files byte for byte."""
