"""What a format's own syntax says about a source text: definitions of code, sections of markup. Pure."""
