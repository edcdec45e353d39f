//! The connection: opened, read at intervals, and opened again when it is lost.

use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::{MissedTickBehavior, timeout};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use crate::app::{Ask, End, Request, Update};
use crate::model::Snapshot;
use crate::queries;
use crate::target::Target;
use crate::view::View;

/// A server that says nothing for so long is taken for lost.
const PATIENCE: Duration = Duration::from_secs(15);

/// An open connection.
pub struct Link {
    client: Client,
    /// Schema of `pg_stat_statements`, if it is installed.
    statements: Option<String>,
}

/// Why there is no connection.
pub enum Refusal {
    /// The server wants a password, and there is none.
    PasswordMissing,
    /// Anything else; a message.
    Other(String),
}

impl Link {
    /// Connects.
    pub async fn open(target: &Target) -> Result<Link, Refusal> {
        let failed = |text: String| {
            Refusal::Other(format!("connection to server at \"{}\" failed: {text}", target.place))
        };
        let connecting = target.config.connect(target.tls.clone());
        let (client, connection) = match timeout(PATIENCE, connecting).await {
            Err(_) => return Err(failed("timeout expired".to_string())),
            Ok(Err(error)) if wants_password(&error) => return Err(Refusal::PasswordMissing),
            Ok(Err(error)) => return Err(failed(message(&error))),
            Ok(Ok(open)) => open,
        };
        // It ends with the client, or with the connection; who uses the client is told.
        tokio::spawn(connection);
        let mut link = Link { client, statements: None };
        let schema = link.read(queries::STATEMENTS_SCHEMA).await.map_err(failed)?;
        link.statements = schema.concat().concat().into_iter().next();
        Ok(link)
    }

    async fn read(&self, query: &str) -> Result<Vec<Vec<queries::Values>>, String> {
        match timeout(PATIENCE, self.client.simple_query(query)).await {
            Err(_) => Err("the server does not answer".to_string()),
            Ok(Err(error)) => Err(message(&error)),
            Ok(Ok(messages)) => Ok(queries::results(messages)),
        }
    }

    /// Reads everything; `pg_stat_statements` only if it is asked for. The second value says why it could not be read.
    pub async fn snapshot(&self, with_statements: bool) -> Result<(Snapshot, Option<String>), String> {
        let mut snapshot = queries::snapshot(&self.read(queries::SNAPSHOT).await?);
        let Some(schema) = self.statements.as_ref().filter(|_| with_statements) else {
            return Ok((snapshot, None));
        };
        match self.read(&queries::statements(schema)).await {
            Ok(results) => {
                snapshot.statements = Some(results.iter().flatten().map(queries::statement).collect())
            }
            Err(_) if self.client.is_closed() => return Err("the connection was closed".to_string()),
            Err(error) => return Ok((snapshot, Some(error))),
        }
        Ok((snapshot, None))
    }

    async fn end(&self, end: &End) -> Result<String, String> {
        let function = end.means.function();
        let rows = match &end.whom {
            Ask::Session { pid, started, .. } => {
                let query = queries::end_session(function);
                self.client.query_typed(&query, &[(pid, Type::INT4), (started, Type::TEXT)]).await
            }
            Ask::Role { role, .. } => {
                self.client.query_typed(&queries::end_role(function), &[(role, Type::TEXT)]).await
            }
        };
        let rows = rows.map_err(|error| message(&error))?;
        let answers: Vec<bool> = rows.iter().map(|row| row.try_get(0).unwrap_or(false)).collect();
        end.outcome(&answers)
    }
}

fn wants_password(error: &Error) -> bool {
    use std::error::Error as _;
    error.source().is_some_and(|source| source.to_string() == "password missing")
}

/// An error as psql shows it, on one line.
fn message(error: &Error) -> String {
    use std::error::Error as _;
    match (error.as_db_error(), error.source()) {
        (Some(error), _) => {
            let detail = error.detail().map(|detail| format!(" ({detail})")).unwrap_or_default();
            format!("{}:  {}{detail}", error.severity(), error.message())
        }
        (None, Some(source)) => source.to_string(),
        (None, None) => error.to_string(),
    }
}

/// Reads the server at intervals and does what is asked for, until nobody listens any more.
pub async fn serve(
    target: Target,
    link: Link,
    interval: Duration,
    requests: UnboundedReceiver<Request>,
    updates: UnboundedSender<Update>,
) {
    let serving = Serving { target, link: Some(link), view: View::Sessions, updates };
    serving.run(interval, requests).await;
}

struct Serving {
    target: Target,
    /// None: lost.
    link: Option<Link>,
    view: View,
    updates: UnboundedSender<Update>,
}

impl Serving {
    async fn run(mut self, interval: Duration, mut requests: UnboundedReceiver<Request>) {
        let mut ticks = tokio::time::interval(interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        loop {
            let update = tokio::select! {
                _ = ticks.tick() => self.refresh().await,
                request = requests.recv() => match request {
                    None => return,
                    Some(request) => self.carry_out(request).await,
                },
            };
            if update.is_some_and(|update| self.updates.send(update).is_err()) {
                return;
            }
        }
    }

    async fn carry_out(&mut self, request: Request) -> Option<Update> {
        match request {
            Request::Quit => None,
            Request::Refresh => self.refresh().await,
            Request::Watch(view) => {
                self.view = view;
                if view == View::Statements { self.refresh().await } else { None }
            }
            Request::Locks(pid) => {
                let link = self.link.as_ref()?;
                Some(match link.read(&queries::locks_of(pid)).await {
                    Ok(results) => Update::Locks(pid, results.concat().iter().map(queries::lock).collect()),
                    Err(error) => self.failure(error),
                })
            }
            Request::End(end) => {
                let Some(link) = &self.link else { return Some(Update::Failed("not connected".to_string())) };
                let outcome = link.end(&end).await;
                // What has changed is to be seen at once.
                let _ = self.refresh().await.map(|update| self.updates.send(update));
                Some(outcome.map_or_else(Update::Failed, Update::Done))
            }
        }
    }

    /// Reads everything, over a new connection if the old one is lost.
    async fn refresh(&mut self) -> Option<Update> {
        let link = match &self.link {
            Some(link) => link,
            None => match Link::open(&self.target).await {
                Ok(link) => self.link.insert(link),
                Err(Refusal::PasswordMissing) => {
                    return Some(Update::Lost("a password is needed".to_string()));
                }
                Err(Refusal::Other(error)) => return Some(Update::Lost(error)),
            },
        };
        match link.snapshot(self.view == View::Statements).await {
            Err(error) => Some(self.failure(error)),
            Ok((snapshot, None)) => Some(Update::Snapshot(Box::new(snapshot))),
            Ok((snapshot, Some(trouble))) => {
                let _ = self.updates.send(Update::Snapshot(Box::new(snapshot)));
                Some(Update::Failed(format!("pg_stat_statements: {trouble}")))
            }
        }
    }

    fn failure(&mut self, error: String) -> Update {
        // What is merely refused will be refused again: the connection stands. One without an answer is of no use.
        let is_of_use =
            |link: &Link| !link.client.is_closed() && error.contains(":  ") && !error.starts_with("FATAL");
        if self.link.as_ref().is_some_and(is_of_use) {
            return Update::Failed(error);
        }
        self.link = None;
        Update::Lost(error)
    }
}
