//! Renmei.
