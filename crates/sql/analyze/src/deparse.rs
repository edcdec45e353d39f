//! Trees as SQL text.
