"""Versions of the package and of its library."""

from ._library import library

__version__ = "0.1.0"  # of msrep/doc.go; scripts/wheel checks it


def library_version() -> str:
    """Return the version of the library that the package calls."""
    return library().msrep_version().decode()
