"""Numbers with their nouns, for messages and notes."""

from topkit.data.words import counted as counted
