"""What results look like: tables, significance marks, plots, HTML pages, progress bars.

The modules are imported by name (``topkit.reporting.tables``), so that a command loads only what it shows.
"""
