"""Queries made without text."""
