//! One session in full.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Text};
use ratatui::widgets::{Paragraph, Widget, Wrap};

use crate::app::Details;
use crate::model::{Lock, Session};
use crate::text::{duration, lines, one_line};

/// Draws it. What is scrolled too far comes back.
pub fn draw(buffer: &mut Buffer, area: Rect, details: &mut Details) {
    let text: Vec<Line<'_>> = content(details).into_iter().map(Line::from).collect();
    let height =
        text.iter().map(|line| line.width().div_ceil(usize::from(area.width).max(1)).max(1)).sum::<usize>();
    details.scrolled = details.scrolled.min(height.saturating_sub(usize::from(area.height)) as u16);
    let paragraph = Paragraph::new(Text::from(text)).wrap(Wrap { trim: false });
    paragraph.scroll((details.scrolled, 0)).render(area, buffer);
}

fn content(details: &Details) -> Vec<String> {
    let session = &details.session;
    let mut content = facts(session);
    content.push(String::new());
    content.push(if session.state == "active" { "Runs:" } else { "Ran last:" }.to_string());
    content.extend(lines(&session.query).iter().map(|line| format!("  {line}")));
    content.push(String::new());
    match &details.locks {
        None => content.push("Locks: being read".to_string()),
        Some(locks) if locks.is_empty() => content.push("Locks: none".to_string()),
        Some(locks) => {
            content.push(format!("Locks: {}", locks.len()));
            content.extend(locks.iter().map(lock));
        }
    }
    content
}

fn facts(session: &Session) -> Vec<String> {
    let since = |seconds: Option<f64>| seconds.map(duration).unwrap_or_else(|| "-".to_string());
    let or_none = |text: &str| if text.is_empty() { "-".to_string() } else { one_line(text) };
    let wait = if session.wait_event.is_empty() {
        "-".to_string()
    } else {
        one_line(&format!("{}: {}", session.wait_type, session.wait_event))
    };
    let blockers = crate::view::pids(&session.blocked_by);
    vec![
        format!("Session {} ({})", session.pid, one_line(&session.kind)),
        format!("  role {}, database {}", or_none(&session.user), or_none(&session.database)),
        format!("  application {}, client {}", or_none(&session.application), or_none(&session.client)),
        format!("  connected since {} ({})", or_none(&session.started), since(session.connected)),
        format!("  state {} for {}", or_none(&session.state), since(session.in_state)),
        format!(
            "  statement began {} ago, transaction {} ago",
            since(session.in_query),
            since(session.in_transaction)
        ),
        format!("  waits for {wait}"),
        format!("  blocked by {}", or_none(&blockers)),
    ]
}

fn lock(lock: &Lock) -> String {
    let state = if lock.granted { "holds   " } else { "WAITS   " };
    format!("  {state}{} on {}", lock.mode, one_line(&lock.object))
}
