//! How an [`App`] is drawn.

pub mod header;
mod help;
mod session;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style};

use crate::app::{App, Mode};
use crate::table::{Row, Table, Tone, width};
use crate::view::View;

/// Draws everything; notes the size that there is.
pub fn draw(frame: &mut Frame<'_>, app: &mut App) {
    let area = frame.area();
    if area.height < 8 || area.width < 20 {
        frame.buffer_mut().set_stringn(area.x, area.y, "too small", area.width.into(), Style::new());
        return;
    }
    let buffer = frame.buffer_mut();
    let top = draw_header(buffer, area, app);
    let body = Rect { y: top, height: area.height - top - 1, ..area };
    app.height = usize::from(body.height).saturating_sub(1);
    app.width = area.width.into();
    match &mut app.mode {
        Mode::Help => help::draw(buffer, body),
        Mode::Session(details) => session::draw(buffer, body, details),
        _ => draw_table(buffer, body, app),
    }
    let last = Rect { y: area.bottom() - 1, height: 1, ..area };
    if let Some(cursor) = draw_last_line(buffer, last, app) {
        frame.set_cursor_position(cursor);
    }
}

/// Writes a line over the whole width.
fn line(buffer: &mut Buffer, area: Rect, y: u16, text: &str, style: Style) {
    buffer.set_style(Rect { y, height: 1, ..area }, style);
    buffer.set_stringn(area.x, y, text, area.width.into(), style);
}

/// Header and names of the views; returns the next free line.
fn draw_header(buffer: &mut Buffer, area: Rect, app: &App) -> u16 {
    let lines = header::lines(&app.place, &app.snapshot, app.rate);
    let mut y = area.y;
    for text in &lines {
        line(buffer, area, y, text, Style::new());
        y += 1;
    }
    let clock = format!(" {}", app.snapshot.server.clock);
    let x = area.right().saturating_sub(clock.len() as u16);
    buffer.set_string(x, area.y, &clock, Style::new().add_modifier(Modifier::BOLD));
    draw_tabs(buffer, area, y, app);
    y + 1
}

fn draw_tabs(buffer: &mut Buffer, area: Rect, y: u16, app: &App) {
    let mut x = area.x;
    for (at, view) in View::ALL.into_iter().enumerate() {
        let style = if view == app.view {
            Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED)
        } else {
            Style::new()
        };
        (x, _) = buffer.set_stringn(
            x,
            y,
            format!(" {} {} ", at + 1, view.title()),
            usize::from(area.right().saturating_sub(x)),
            style,
        );
    }
    let mut marks = Vec::new();
    if !app.filter.is_empty() {
        marks.push(format!("with \"{}\"", app.filter));
    }
    if !app.shown.idle {
        marks.push("idle hidden".to_string());
    }
    if app.shown.background {
        marks.push("background".to_string());
    }
    if app.shown.own {
        marks.push("own".to_string());
    }
    if app.paused {
        marks.push("PAUSED".to_string());
    }
    let room = usize::from(area.right().saturating_sub(x + 2));
    buffer.set_stringn(x + 2, y, marks.join(", "), room, Style::new().fg(Color::Yellow));
}

fn draw_table(buffer: &mut Buffer, area: Rect, app: &mut App) {
    let table = app.table();
    let widths = table.fit(area.width.into());
    let sorted = app.view.is_sorted().then(|| app.position().sorting.min(table.columns.len() - 1));
    let titles = titles(&table, sorted, app.position().reversed);
    let bold = Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
    buffer.set_style(Rect { height: 1, ..area }, bold);
    cells(buffer, area, area.y, &table, &widths, titles.iter().map(String::as_str), bold);
    if table.rows.is_empty() {
        let text = if app.filter.is_empty() { table.empty } else { "Nothing contains the filter's text." };
        line(buffer, area, area.y + 1, text, Style::new());
        return;
    }
    let selected = app.line(&table);
    let height = usize::from(area.height).saturating_sub(1).max(1);
    let position = &mut app.positions[app.view.index()];
    position.line = selected;
    // The selected row stays in sight, and no line is left empty.
    position.top = position.top.min(selected).max((selected + 1).saturating_sub(height));
    position.top = position.top.min(table.rows.len().saturating_sub(height));
    let top = position.top;
    for (at, row) in table.rows.iter().enumerate().skip(top).take(height) {
        let y = area.y + 1 + (at - top) as u16;
        let style = style(row, at == selected);
        buffer.set_style(Rect { y, height: 1, ..area }, style);
        cells(buffer, area, y, &table, &widths, row.cells.iter().map(|cell| cell.text.as_str()), style);
    }
}

/// Titles, with a mark at the column by which is sorted.
fn titles(table: &Table, sorted: Option<usize>, reversed: bool) -> Vec<String> {
    let title = |(at, column): (usize, &crate::table::Column)| match sorted {
        Some(sorted) if sorted == at && column.falling != reversed => format!("{}▾", column.title),
        Some(sorted) if sorted == at => format!("{}▴", column.title),
        _ => column.title.to_string(),
    };
    table.columns.iter().enumerate().map(title).collect()
}

fn cells<'a>(
    buffer: &mut Buffer,
    area: Rect,
    y: u16,
    table: &Table,
    widths: &[usize],
    texts: impl Iterator<Item = &'a str>,
    style: Style,
) {
    let mut x = area.x;
    for ((text, room), column) in texts.zip(widths).zip(table.columns) {
        if *room == 0 {
            continue;
        }
        let indent = if column.right { room.saturating_sub(width(text)) } else { 0 };
        buffer.set_stringn(x + indent as u16, y, text, room - indent, style);
        if width(text) > *room {
            buffer.set_string(x + *room as u16 - 1, y, "…", style);
        }
        x += *room as u16 + 1;
    }
}

fn style(row: &Row, selected: bool) -> Style {
    let style = match row.tone {
        Tone::Plain => Style::new(),
        Tone::Faint => Style::new().add_modifier(Modifier::DIM),
        Tone::Busy => Style::new().fg(Color::Green),
        Tone::Warning => Style::new().fg(Color::Yellow),
        Tone::Blocked => Style::new().fg(Color::Red),
    };
    if selected { style.remove_modifier(Modifier::DIM).add_modifier(Modifier::REVERSED) } else { style }
}

/// The line of what is asked, of what happened, or of the keys. Returns where the cursor stands, if it shows.
fn draw_last_line(buffer: &mut Buffer, area: Rect, app: &App) -> Option<Position> {
    let bad = Style::new().fg(Color::White).bg(Color::Red);
    match (&app.mode, &app.lost, &app.notice) {
        (Mode::Filter(_), ..) => {
            let text = format!("show rows with: {}", app.filter);
            line(buffer, area, area.y, &text, Style::new());
            let x = area.x.saturating_add(width(&text) as u16).min(area.right() - 1);
            return Some(Position { x, y: area.y });
        }
        (Mode::Asking(question), ..) => {
            let style = Style::new().fg(Color::Black).bg(Color::Yellow);
            line(buffer, area, area.y, &question.text(), style);
        }
        (_, Some(lost), _) => {
            line(buffer, area, area.y, &format!("Connection lost, trying again: {lost}"), bad)
        }
        (_, None, Some(notice)) if notice.is_error => line(buffer, area, area.y, &notice.text, bad),
        (_, None, Some(notice)) => {
            line(buffer, area, area.y, &notice.text, Style::new().fg(Color::Black).bg(Color::Green));
        }
        (mode, ..) => {
            line(buffer, area, area.y, keys(mode, app.view), Style::new().add_modifier(Modifier::REVERSED))
        }
    }
    None
}

fn keys(mode: &Mode, view: View) -> &'static str {
    match (mode, view) {
        (Mode::Help, _) => "any key: back",
        (Mode::Session(_), _) => {
            "esc back  j/k scroll  c cancel  t terminate  R role  space read locks again"
        }
        (_, View::Sessions) => "s sort r reverse / filter i idle enter show c cancel t terminate R role ? q",
        (_, View::Locks) => "enter show  c cancel  t terminate  R role  / filter  p pause  ? help  q quit",
        _ => "s sort  r reverse  / filter  p pause  space now  ? help  q quit",
    }
}

#[cfg(test)]
mod tests;
