"""Other systems that can be asked the same question, each in an environment of its own."""
