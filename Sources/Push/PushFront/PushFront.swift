// PushFront is being built.
