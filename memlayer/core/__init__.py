"""Pure rules of memory: no input or output, standard library only."""
