"""Fuzzing: damaged and hostile input for every reader, in a child process with limits on memory and time."""
