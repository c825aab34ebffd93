"""Pages of the web: which addresses may be asked, asking them, and what is to be read on a page."""
