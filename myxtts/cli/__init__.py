"""The command line: parse, place devices, then import the rest."""
