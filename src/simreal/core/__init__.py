"""The nouns every stage shares: types, protocols, the one episode loop, seeds, files, errors."""
