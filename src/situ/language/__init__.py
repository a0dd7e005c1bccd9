"""Text becomes a checked query: parser, checks, printer, binder, and a builder that needs no text."""

from situ.language.situations.parser import query

__all__ = ["query"]
