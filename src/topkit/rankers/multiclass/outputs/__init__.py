"""Scores of boosted classifiers, for many documents and after many rounds at once."""
