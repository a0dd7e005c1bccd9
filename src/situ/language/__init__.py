"""Text becomes a checked query: parser, checks, printer, binder, and a builder that needs no text."""

from situ.language.reading import query

__all__ = ["query"]
