"""Text becomes a checked query: parser, checks, printer, binder, and a builder that needs no text."""

from situ.language.parser import query

__all__ = ["query"]
