// PushStore is being built.
