"""Scores of boosted classifiers, for many documents and many rounds in one pass."""
