//! The log of slow statements: a line of JSON for each one.

use crate::parameters;
use crate::portal::Portal;
use frazil::{Connection, Error, Result, normalized_text, wall_clock};
use serde_json::{Map, Value as Json, json};
use std::fmt;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The place to which lines are written.
type Sink = Arc<Mutex<dyn Write + Send>>;

/// The log of a server. Clones write to the same place.
#[derive(Clone)]
pub struct SlowLog {
    least: Duration,
    has_values: bool,
    out: Sink,
}

impl fmt::Debug for SlowLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "statements of {:?} or more", self.least)
    }
}

impl SlowLog {
    /// A log of statements that take `least` or longer. With values if `has_values`: those of parameters, and the
    /// constants of texts.
    pub fn new(least: Duration, has_values: bool, out: impl Write + Send + 'static) -> SlowLog {
        SlowLog {
            least,
            has_values,
            out: Arc::new(Mutex::new(out)),
        }
    }

    /// The log for a client.
    pub fn of_client(&self, client: Client) -> ClientLog {
        ClientLog {
            log: self.clone(),
            client,
        }
    }
}

/// A client, as the log names it.
pub struct Client {
    /// The number of its session.
    pub number: i32,
    /// The role.
    pub user: String,
    /// The database.
    pub database: String,
    /// The address.
    pub address: Option<SocketAddr>,
}

/// The log of a client's slow statements.
pub struct ClientLog {
    log: SlowLog,
    client: Client,
}

impl ClientLog {
    /// Writes a text of the simple protocol that began at a time, if that was long ago enough.
    pub fn text(&self, connection: &Connection, begun: Instant, text: &str, done: &Result<()>) {
        self.note(connection, begun, done, || (text, None));
    }

    /// Writes an Execute of a portal.
    pub fn portal(&self, connection: &Connection, begun: Instant, portal: &Portal, done: &Result<()>) {
        self.note(connection, begun, done, || {
            let text = portal.statement.as_ref().map_or("", |statement| statement.text());
            (text, Some(values(portal)))
        });
    }

    fn note<'a>(
        &self,
        connection: &Connection,
        begun: Instant,
        done: &Result<()>,
        statement: impl FnOnce() -> (&'a str, Option<Json>),
    ) {
        let took = begun.elapsed();
        if took < self.log.least {
            return;
        }
        let (text, values) = statement();
        let text = match self.log.has_values {
            true => text.to_owned(),
            false => normalized_text(text),
        };
        let mut line = Map::new();
        let mut put = |name: &str, value: Json| drop(line.insert(name.to_owned(), value));
        put("time", json!(wall_clock()));
        put("event", json!("slow statement"));
        put("milliseconds", json!(took.as_micros() as f64 / 1e3));
        put("pid", json!(self.client.number));
        put("user", json!(self.client.user));
        put("database", json!(self.client.database));
        put(
            "application",
            json!(connection.setting("application_name").unwrap_or_default()),
        );
        put(
            "client",
            json!(self.client.address.map(|address| address.to_string())),
        );
        put("statement", json!(text));
        if let Some(values) = values.filter(|_| self.log.has_values) {
            put("values", values);
        }
        if let Err(error) = done {
            put("error", json!(Error::state(error).0));
        }
        let mut out = self.log.out.lock().unwrap_or_else(PoisonError::into_inner);
        // A log that nobody takes does not stop the server.
        let _ = writeln!(out, "{}", Json::Object(line)).and_then(|()| out.flush());
    }
}

/// The values of a portal's parameters as texts.
fn values(portal: &Portal) -> Json {
    let types = portal
        .statement
        .iter()
        .flat_map(|statement| statement.parameters());
    let values = portal.values.iter().zip(types);
    values
        .map(|(value, declared)| json!(parameters::text(value, declared)))
        .collect()
}
