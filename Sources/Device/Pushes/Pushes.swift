// Pushes is being built.
