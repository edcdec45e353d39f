//! What is on the screen, and what a key changes of it: a state machine without a terminal.

mod question;

pub use question::{Ask, End, Means, Question};

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::model::{Lock, Session, Snapshot, WaitHistory, rate};
use crate::table::{Row, Table};
use crate::view::{Shown, View};

/// What the program is to do for a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Leave.
    Quit,
    /// Read the server now.
    Refresh,
    /// Another view is looked at; what only it needs is to be read, or no longer.
    Watch(View),
    /// Read the locks of a session.
    Locks(i32),
    /// End something.
    End(End),
}

/// What came from the server.
#[derive(Clone, Debug)]
pub enum Update {
    /// Everything, anew.
    Snapshot(Box<Snapshot>),
    /// Locks of a session.
    Locks(i32, Vec<Lock>),
    /// The connection is lost; a message.
    Lost(String),
    /// Something was done.
    Done(String),
    /// Something failed.
    Failed(String),
}

/// A line about what happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What.
    pub text: String,
    /// Whether it is bad news.
    pub is_error: bool,
}

/// What keys go to.
#[derive(Clone, Debug, PartialEq)]
pub enum Mode {
    /// The table.
    Table,
    /// The filter that is being typed; what it was before.
    Filter(String),
    /// One session, with its locks.
    Session(Box<Details>),
    /// A question.
    Asking(Question),
    /// What keys do.
    Help,
}

/// One session in full.
#[derive(Clone, Debug, PartialEq)]
pub struct Details {
    /// As it was last seen.
    pub session: Session,
    /// What it holds and waits for; none: not read yet.
    pub locks: Option<Vec<Lock>>,
    /// How many lines are scrolled away.
    pub scrolled: u16,
}

/// How a view is sorted, and where in it we are.
#[derive(Clone, Debug)]
pub struct Position {
    /// Column.
    pub sorting: usize,
    /// Whether the other way round.
    pub reversed: bool,
    /// Key of the selected row.
    pub selected: Option<String>,
    /// Where it was, for when it has gone.
    pub line: usize,
    /// First row on the screen.
    pub top: usize,
}

/// Everything.
#[derive(Clone, Debug)]
pub struct App {
    /// Host and port.
    pub place: String,
    /// What is looked at.
    pub view: View,
    /// What keys go to.
    pub mode: Mode,
    /// Where we are in each view.
    pub positions: [Position; 4],
    /// Rows contain this text.
    pub filter: String,
    /// Which sessions are shown.
    pub shown: Shown,
    /// Whether the picture stands still.
    pub paused: bool,
    /// What happened last.
    pub notice: Option<Notice>,
    /// Why there is no connection.
    pub lost: Option<String>,
    /// What was read last.
    pub snapshot: Snapshot,
    /// Transactions in a second.
    pub rate: Option<f64>,
    /// What sessions waited for.
    pub history: WaitHistory,
    /// Rows on the screen, as drawn last.
    pub height: usize,
    /// Columns of the screen.
    pub width: usize,
}

impl App {
    /// An application that looks at a first snapshot.
    pub fn new(place: String, shown: Shown, snapshot: Snapshot) -> App {
        let position = |view: View| Position {
            sorting: view.first_sorting(),
            reversed: false,
            selected: None,
            line: 0,
            top: 0,
        };
        let mut history = WaitHistory::default();
        history.add(&snapshot);
        App {
            place,
            view: View::Sessions,
            mode: Mode::Table,
            positions: View::ALL.map(position),
            filter: String::new(),
            shown,
            paused: false,
            notice: None,
            lost: None,
            snapshot,
            rate: None,
            history,
            height: 20,
            width: 80,
        }
    }

    /// Where we are in the view.
    pub fn position(&self) -> &Position {
        &self.positions[self.view.index()]
    }

    fn position_mut(&mut self) -> &mut Position {
        &mut self.positions[self.view.index()]
    }

    /// The table that is looked at, sorted and filtered.
    pub fn table(&self) -> Table {
        let mut table = self.view.table(&self.snapshot, &self.history, self.shown, self.width);
        let position = self.position();
        if self.view.is_sorted() {
            // A view may have other columns than it had.
            table.sort(position.sorting.min(table.columns.len() - 1), position.reversed);
        }
        if !self.filter.is_empty() {
            table.filter(&self.filter);
        }
        table
    }

    /// The line of the selected row; the next best if it has gone.
    pub fn line(&self, table: &Table) -> usize {
        let position = self.position();
        let found =
            position.selected.as_ref().and_then(|key| table.rows.iter().position(|row| row.key == *key));
        found.unwrap_or(position.line.min(table.rows.len().saturating_sub(1)))
    }

    /// Takes in what came from the server.
    pub fn update(&mut self, update: Update) {
        match update {
            Update::Snapshot(snapshot) => self.look(*snapshot),
            Update::Locks(pid, locks) => {
                if let Mode::Session(details) = &mut self.mode
                    && details.session.pid == pid
                {
                    details.locks = Some(locks);
                }
            }
            Update::Lost(text) => self.lost = Some(text),
            Update::Done(text) => self.notice = Some(Notice { text, is_error: false }),
            Update::Failed(text) => self.notice = Some(Notice { text, is_error: true }),
        }
    }

    fn look(&mut self, snapshot: Snapshot) {
        if self.lost.take().is_some() {
            self.notice = Some(Notice { text: "connected again".to_string(), is_error: false });
        }
        if self.paused {
            return;
        }
        self.rate = rate(&self.snapshot, &snapshot).or(self.rate);
        self.history.add(&snapshot);
        if let Mode::Session(details) = &mut self.mode {
            let same = |session: &&Session| session.started == details.session.started;
            if let Some(session) = snapshot.session(details.session.pid).filter(same) {
                details.session = session.clone();
            }
        }
        self.snapshot = snapshot;
    }

    /// Takes in a key.
    pub fn key(&mut self, key: KeyEvent) -> Option<Request> {
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            return Some(Request::Quit);
        }
        // No other key with control or alt has a meaning, least of all that of its letter.
        if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
            return None;
        }
        self.notice = None;
        match std::mem::replace(&mut self.mode, Mode::Table) {
            Mode::Table => self.table_key(key.code),
            Mode::Filter(before) => self.filter_key(key.code, before),
            Mode::Session(details) => self.session_key(key.code, details),
            Mode::Asking(question) => self.answer(key.code, question),
            Mode::Help => None,
        }
    }

    fn table_key(&mut self, code: KeyCode) -> Option<Request> {
        let page = self.height.saturating_sub(1).max(1) as isize;
        match code {
            KeyCode::Char('q') => return Some(Request::Quit),
            KeyCode::Char(c @ '1'..='4') => return self.watch(c as usize - '1' as usize),
            KeyCode::Tab => return self.watch((self.view.index() + 1) % 4),
            KeyCode::BackTab => return self.watch((self.view.index() + 3) % 4),
            KeyCode::Down | KeyCode::Char('j') => self.step(1),
            KeyCode::Up | KeyCode::Char('k') => self.step(-1),
            KeyCode::PageDown => self.step(page),
            KeyCode::PageUp => self.step(-page),
            KeyCode::Home | KeyCode::Char('g') => self.step(isize::MIN),
            KeyCode::End | KeyCode::Char('G') => self.step(isize::MAX),
            KeyCode::Char('s') => self.sort_by_next(1),
            KeyCode::Char('S') => self.sort_by_next(-1),
            KeyCode::Char('r') => self.position_mut().reversed ^= true,
            KeyCode::Char('/') => self.mode = Mode::Filter(self.filter.clone()),
            KeyCode::Esc => self.filter.clear(),
            KeyCode::Char('p') => self.paused ^= true,
            KeyCode::Char(' ') => return Some(Request::Refresh),
            KeyCode::Char('o') => self.shown.own ^= true,
            KeyCode::Char('i') => self.shown.idle ^= true,
            KeyCode::Char('b') => self.shown.background ^= true,
            KeyCode::Char('?' | 'h') | KeyCode::F(1) => self.mode = Mode::Help,
            KeyCode::Enter => return self.open(),
            KeyCode::Char(c @ ('c' | 't' | 'R')) => self.ask_about_selected(c),
            _ => {}
        }
        None
    }

    fn watch(&mut self, index: usize) -> Option<Request> {
        self.view = View::ALL[index];
        Some(Request::Watch(self.view))
    }

    /// Moves the selection, and remembers the row it comes to.
    fn step(&mut self, lines: isize) {
        let table = self.table();
        let last = table.rows.len().saturating_sub(1);
        let line = self.line(&table).saturating_add_signed(lines).min(last);
        let selected = table.rows.get(line).map(|row| row.key.clone());
        let position = self.position_mut();
        position.line = line;
        position.selected = selected;
    }

    fn sort_by_next(&mut self, step: isize) {
        if self.view.is_sorted() {
            let columns = self.table().columns.len();
            let position = self.position_mut();
            let at = position.sorting.min(columns - 1) + columns;
            position.sorting = at.saturating_add_signed(step) % columns;
            position.reversed = false;
        }
    }

    fn filter_key(&mut self, code: KeyCode, before: String) -> Option<Request> {
        match code {
            KeyCode::Enter => return None,
            KeyCode::Esc => {
                self.filter = before;
                return None;
            }
            KeyCode::Backspace => drop(self.filter.pop()),
            KeyCode::Char(c) => self.filter.push(c),
            _ => {}
        }
        self.mode = Mode::Filter(before);
        None
    }

    /// The selected row.
    pub fn selected(&self) -> Option<Row> {
        let mut table = self.table();
        let line = self.line(&table);
        (line < table.rows.len()).then(|| table.rows.swap_remove(line))
    }

    /// The session of the selected row.
    pub fn selected_session(&self) -> Option<&Session> {
        self.snapshot.session(self.selected()?.pid?)
    }

    fn open(&mut self) -> Option<Request> {
        let session = self.selected_session()?.clone();
        let pid = session.pid;
        self.mode = Mode::Session(Box::new(Details { session, locks: None, scrolled: 0 }));
        Some(Request::Locks(pid))
    }

    fn session_key(&mut self, code: KeyCode, mut details: Box<Details>) -> Option<Request> {
        let page = self.height.saturating_sub(1).max(1) as u16;
        let pid = details.session.pid;
        match code {
            KeyCode::Esc | KeyCode::Enter | KeyCode::Char('q') => return None,
            KeyCode::Down | KeyCode::Char('j') => details.scrolled = details.scrolled.saturating_add(1),
            KeyCode::Up | KeyCode::Char('k') => details.scrolled = details.scrolled.saturating_sub(1),
            KeyCode::PageDown => details.scrolled = details.scrolled.saturating_add(page),
            KeyCode::PageUp => details.scrolled = details.scrolled.saturating_sub(page),
            KeyCode::Home | KeyCode::Char('g') => details.scrolled = 0,
            KeyCode::Char(c @ ('c' | 't' | 'R')) => {
                self.ask_about(c, &details.session);
                return None;
            }
            KeyCode::Char(' ') => {
                self.mode = Mode::Session(details);
                return Some(Request::Locks(pid));
            }
            _ => {}
        }
        self.mode = Mode::Session(details);
        None
    }

    fn ask_about_selected(&mut self, code: char) {
        match self.selected_session().cloned() {
            Some(session) => self.ask_about(code, &session),
            None => self.refuse("select a session first (views 1 and 4)"),
        }
    }

    fn ask_about(&mut self, code: char, session: &Session) {
        let of_role = |other: &&Session| {
            other.user == session.user && other.is_client() && other.pid != self.snapshot.server.own_pid
        };
        match code {
            'R' if session.user.is_empty() => self.refuse("this process has no role"),
            'R' => {
                let sessions = self.snapshot.sessions.iter().filter(of_role).count();
                self.mode = Mode::Asking(Question::How { role: session.user.clone(), sessions });
            }
            _ if session.pid == self.snapshot.server.own_pid => {
                self.refuse("this is the session of stampede top")
            }
            _ => {
                let means = if code == 'c' { Means::Cancel } else { Means::Terminate };
                let ask = Ask::Session {
                    pid: session.pid,
                    started: session.started.clone(),
                    user: session.user.clone(),
                };
                self.mode = Mode::Asking(Question::Sure(means, ask));
            }
        }
    }

    fn refuse(&mut self, text: &str) {
        self.notice = Some(Notice { text: text.to_string(), is_error: true });
    }

    fn answer(&mut self, code: KeyCode, question: Question) -> Option<Request> {
        match question.answer(code) {
            question::Answer::Ask(next) => self.mode = Mode::Asking(next),
            question::Answer::Do(end) => return Some(Request::End(end)),
            question::Answer::Leave => {
                self.notice = Some(Notice { text: "nothing was ended".to_string(), is_error: false });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
