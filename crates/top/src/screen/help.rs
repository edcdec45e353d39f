//! What the keys do.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

const LINES: &[&str] = &[
    "1 2 3 4, tab   sessions, waits, statements, locks",
    "j k, arrows    next and previous row; page up and down, home (g), end (G)",
    "enter          the selected session in full, with its locks",
    "s S r          sort by the next or previous column; the other way round",
    "/              only rows with a text; esc: all rows",
    "i b o          idle sessions, background processes, our own session: show or hide",
    "p, space       pause and go on; read the server now",
    "c              cancel the statement of the selected session, after a question",
    "t              terminate the selected session, after a question",
    "R              cancel or terminate all sessions of its role, after a question",
    "q, ctrl-c      quit",
    "",
    "TIME: how long in this state. XACT: how long in a transaction. BY: blocked by",
    "whom. Green: runs. Red: waits for another session. Yellow: idle in a",
    "transaction, or in the way of others.",
];

/// Draws them.
pub fn draw(buffer: &mut Buffer, area: Rect) {
    for (text, y) in LINES.iter().zip(area.y + 1..area.bottom()) {
        super::line(buffer, area, y, text, Style::new());
    }
}
