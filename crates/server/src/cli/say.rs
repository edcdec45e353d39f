//! What programs print. Whoever reads it may go away at any time (`initdb | head`): that ends no program halfway.

use std::fmt::Arguments;
use std::io::Write as _;

/// Writes to standard output at once, whether a line is complete or not: steps are to appear as they begin. Returns whether it arrived, for who
/// would print without end.
pub(super) fn write(text: Arguments<'_>) -> bool {
    let mut out = std::io::stdout();
    out.write_fmt(text).and_then(|()| out.flush()).is_ok()
}

/// As `print!`; nothing happens if nobody reads any more.
macro_rules! say {
    ($($text:tt)*) => { _ = $crate::cli::say::write(format_args!($($text)*)) };
}

/// As `println!`, likewise.
macro_rules! say_line {
    ($($text:tt)*) => { _ = $crate::cli::say::write(format_args!("{}\n", format_args!($($text)*))) };
}

pub(super) use {say, say_line};
