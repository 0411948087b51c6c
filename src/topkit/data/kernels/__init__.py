"""Compiled scanners of LETOR lines and TREC runs. Each has a plain Python twin in the tests.

A scanner never raises: it returns a status and where it stopped, and the caller writes the message.
"""
