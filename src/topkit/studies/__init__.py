"""Uses of the methods: tables, reports and the demo."""
