//! The program: connects, then shows what there is once, or goes round between keys, server and screen.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::app::{App, Request, Update};
use crate::link::{self, Link, Refusal};
use crate::model::WaitHistory;
use crate::target::{Flags, Target, resolve};
use crate::view::Shown;
use crate::{plain, screen};

/// What the command line says.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which server.
    pub flags: Flags,
    /// How often it is read.
    pub interval: Duration,
    /// Whether everything is written once, as text; so too where standard output is no terminal.
    pub once: bool,
    /// Whether our own session is shown.
    pub own: bool,
    /// Whether a password is asked for: always, never, or when the server wants one.
    pub ask_password: Option<bool>,
}

/// Runs until the user has enough. The error is a message.
pub fn run(options: &Options) -> Result<(), String> {
    let variable = |name: &str| std::env::var(name).ok();
    let target = resolve(&options.flags, &variable)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| error.to_string())?.block_on(watch(target, options))
}

async fn watch(mut target: Target, options: &Options) -> Result<(), String> {
    let link = connect(&mut target, options.ask_password).await?;
    let once = options.once || !io::stdout().is_terminal();
    let (snapshot, trouble) = link.snapshot(once).await?;
    let shown = Shown { own: options.own, idle: true, background: false };
    if once {
        if let Some(trouble) = trouble {
            eprintln!("WARNING: could not read pg_stat_statements: {trouble}");
        }
        let mut history = WaitHistory::default();
        history.add(&snapshot);
        let text = plain::text(&target.place, &snapshot, &history, shown);
        // Whoever reads may have enough, as `head` does.
        return match io::stdout().write_all(text.as_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.to_string()),
            _ => Ok(()),
        };
    }
    let app = App::new(target.place.clone(), shown, snapshot);
    let (requests, asked) = unbounded_channel();
    let (answers, updates) = unbounded_channel();
    tokio::spawn(link::serve(target, link, options.interval, asked, answers));
    go_round(app, &requests, updates).await.map_err(|error| format!("could not use the terminal: {error}"))
}

/// Connects, with a password if one is needed and may be asked for.
async fn connect(target: &mut Target, ask: Option<bool>) -> Result<Link, String> {
    if ask == Some(true) {
        target.config.password(prompt(&target.user)?);
    }
    match Link::open(target).await {
        Ok(link) => Ok(link),
        Err(Refusal::Other(error)) => Err(error),
        Err(Refusal::PasswordMissing) if ask.is_none() && io::stderr().is_terminal() => {
            target.config.password(prompt(&target.user)?);
            match Link::open(target).await {
                Ok(link) => Ok(link),
                Err(Refusal::Other(error)) => Err(error),
                Err(Refusal::PasswordMissing) => Err("no password supplied".to_string()),
            }
        }
        Err(Refusal::PasswordMissing) => {
            Err(format!("connection to server at \"{}\" failed: no password supplied", target.place))
        }
    }
}

/// Asks for a password, without showing it.
fn prompt(user: &str) -> Result<String, String> {
    eprint!("Password for user {user}: ");
    enable_raw_mode().map_err(|error| error.to_string())?;
    let password = read_secret();
    let restored = disable_raw_mode();
    eprintln!();
    restored.map_err(|error| error.to_string())?;
    password
}

fn read_secret() -> Result<String, String> {
    let mut secret = String::new();
    loop {
        let Event::Key(key) = event::read().map_err(|error| error.to_string())? else { continue };
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => return Ok(secret),
            KeyCode::Char('c' | 'd') if control => return Err("no password supplied".to_string()),
            KeyCode::Char('u') if control => secret.clear(),
            KeyCode::Backspace => drop(secret.pop()),
            KeyCode::Char(c) if !control => secret.push(c),
            _ => {}
        }
    }
}

/// The terminal while it is ours. It is given back when this is dropped; a panic gives it back before it says why.
struct Screen(DefaultTerminal);

impl Screen {
    fn take() -> io::Result<Screen> {
        ratatui::try_init().map(Screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

async fn go_round(
    mut app: App,
    requests: &UnboundedSender<Request>,
    mut updates: UnboundedReceiver<Update>,
) -> io::Result<()> {
    let mut ends = signal(SignalKind::terminate())?;
    let mut hangs_up = signal(SignalKind::hangup())?;
    let mut screen = Screen::take()?;
    let mut events = read_events();
    loop {
        screen.0.draw(|frame| screen::draw(frame, &mut app))?;
        let request = tokio::select! {
            event = events.recv() => match event {
                // There is no terminal any more.
                None => return Ok(()),
                Some(Event::Key(key)) if key.kind == KeyEventKind::Press => app.key(key),
                Some(_) => None,
            },
            update = updates.recv() => match update {
                None => return Err(io::Error::other("the connection is no longer served")),
                Some(update) => {
                    app.update(update);
                    None
                }
            },
            _ = ends.recv() => return Ok(()),
            _ = hangs_up.recv() => return Ok(()),
        };
        match request {
            Some(Request::Quit) => return Ok(()),
            Some(request) => drop(requests.send(request)),
            None => {}
        }
    }
}

/// Keys and changes of size, read by a thread that ends with the process: reading them blocks.
fn read_events() -> UnboundedReceiver<Event> {
    let (sender, receiver) = unbounded_channel();
    std::thread::spawn(move || {
        while let Ok(event) = event::read() {
            if sender.send(event).is_err() {
                return;
            }
        }
    });
    receiver
}
