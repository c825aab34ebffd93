"""A model's word on which edit is the right one: candidates are asked about while the tests of others run."""
