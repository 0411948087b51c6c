"""Studies: experiments that compare methods, from a TOML file to tables, plots and a report; and the demo."""
