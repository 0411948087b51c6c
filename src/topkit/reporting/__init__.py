"""Showing results: tables, marks of significance, plots, HTML pages and progress."""
