//! Words and numbers as they are shown.

/// A text on one line: runs of white space are one blank, other control characters a question mark.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().map(clean).collect::<Vec<_>>().join(" ")
}

/// A text of several lines: tabs are blanks, other control characters question marks.
pub fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| clean(&line.replace('\t', "    "))).collect()
}

fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || is_direction(c) { '?' } else { c }).collect()
}

/// Characters that turn the direction of writing, and so could show a text as what it is not.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Seconds in at most six columns: `0.3s`, `42s`, `3m05s`, `2h10m`, `3d04h`, `812d`.
pub fn duration(seconds: f64) -> String {
    if seconds < 9.95 {
        return format!("{:.1}s", seconds.max(0.0));
    }
    let whole = seconds.round() as u64;
    let (minutes, hours, days) = (whole / 60, whole / 3600, whole / 86400);
    match whole {
        0..60 => format!("{whole}s"),
        60..3600 => format!("{minutes}m{:02}s", whole % 60),
        3600..86400 => format!("{hours}h{:02}m", minutes % 60),
        _ if days < 100 => format!("{days}d{:02}h", hours % 24),
        _ => format!("{days}d"),
    }
}

/// Milliseconds: `0.042 ms`, `4.2 ms`, `420 ms`, and from ten seconds on as [`duration`].
pub fn milliseconds(ms: f64) -> String {
    match ms {
        _ if ms < 1.0 => format!("{ms:.3} ms"),
        _ if ms < 100.0 => format!("{ms:.1} ms"),
        _ if ms < 10_000.0 => format!("{ms:.0} ms"),
        _ => duration(ms / 1000.0),
    }
}

/// A count in at most six columns: `9999`, `12.3k`, `4.5M`.
pub fn count(number: f64) -> String {
    scaled(number, 1000.0, &["", "k", "M", "G", "T", "P"])
}

/// Bytes: `512 B`, `12.3 kB`, `4.5 MB`.
pub fn bytes(number: f64) -> String {
    scaled(number, 1024.0, &[" B", " kB", " MB", " GB", " TB", " PB"])
}

fn scaled(number: f64, step: f64, units: &[&str]) -> String {
    if number < 10_000.0 {
        return format!("{number:.0}{}", units[0]);
    }
    let (mut number, mut unit) = (number, 0);
    while number >= step && unit + 1 < units.len() {
        number /= step;
        unit += 1;
    }
    format!("{number:.1}{}", units[unit])
}

/// A statement without its values, so that those which differ in them only look alike.
pub fn without_values(query: &str) -> String {
    let mut out = String::with_capacity(query.len());
    let mut chars = query.chars().peekable();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        let in_word = before.is_alphanumeric() || matches!(before, '_' | '$');
        if c == '\'' {
            while chars.next().is_some_and(|c| c != '\'') {}
            out.push('?');
        } else if c.is_ascii_digit() && !in_word {
            while chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '.').is_some() {}
            out.push('?');
        } else {
            out.push(c);
        }
        before = c;
    }
    one_line(&out)
}

/// Counts as a row of bars, the highest of `top` and no wider than `width`: the latest are kept.
pub fn bars(counts: &[usize], top: usize, width: usize) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let bar = |&count: &usize| match count {
        0 => ' ',
        _ => BARS[(count * BARS.len()).div_ceil(top.max(1)).clamp(1, BARS.len()) - 1],
    };
    counts[counts.len().saturating_sub(width)..].iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_writes_cannot_move_the_cursor() {
        assert_eq!(one_line("select\n\t1 \x1b[2J\u{202e}x"), "select 1 ?[2J?x");
        assert_eq!(lines("a\tb\n\x07"), ["a    b", "?"]);
    }

    #[test]
    fn times() {
        let times = [0.0, 9.94, 9.96, 59.4, 59.6, 185.0, 7800.0, 360_000.0, 70_156_800.0].map(duration);
        assert_eq!(times, ["0.0s", "9.9s", "10s", "59s", "1m00s", "3m05s", "2h10m", "4d04h", "812d"]);
        assert_eq!(
            [0.0421, 4.21, 420.0, 12_000.0].map(milliseconds),
            ["0.042 ms", "4.2 ms", "420 ms", "12s"]
        );
    }

    #[test]
    fn sizes() {
        assert_eq!([0.0, 9999.0, 12_345.0, 4.5e6].map(count), ["0", "9999", "12.3k", "4.5M"]);
        assert_eq!([512.0, 20_480.0, 3e9].map(bytes), ["512 B", "20.0 kB", "2.8 GB"]);
    }

    #[test]
    fn statements_that_differ_in_values() {
        let text = "update t1 set a = 1.5e3,\n b = 'it''s' where c = $1 and d = '";
        assert_eq!(without_values(text), "update t1 set a = ?, b = ?? where c = $1 and d = ?");
    }

    #[test]
    fn bars_are_as_high_as_their_share() {
        assert_eq!(bars(&[0, 1, 4, 8], 8, 10), " ▁▄█");
        assert_eq!(bars(&[3, 1, 2], 2, 2), "▄█");
    }
}
