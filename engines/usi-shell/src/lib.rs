//! USI engine shell.
