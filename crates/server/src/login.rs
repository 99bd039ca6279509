//! The login of a client: its first packet, its password, the settings that it wants.

use crate::answers::{Answers, Gravity};
use crate::ended::Ended;
use crate::messages::{Content, Message, violation};
use crate::scram::{BOUND_MECHANISM, Channel, MECHANISM, Verifier};
use crate::server::{Authentication, Shared};
use crate::session::Session;
use crate::tls::HANDSHAKE;
use crate::wire::Wire;
use frazil::{ClientEncoding, Connection, Error, Result, SqlState};

/// The code of a packet that asks for TLS.
const SSL_REQUEST: i32 = 80_877_103;
/// The code of a packet that asks for GSSAPI.
const GSS_REQUEST: i32 = 80_877_104;
/// The code of a packet that cancels a statement of another connection.
const CANCEL_REQUEST: i32 = 80_877_102;

/// AuthenticationOk.
const OK: i32 = 0;
/// AuthenticationSASL.
const SASL: i32 = 10;
/// AuthenticationSASLContinue.
const SASL_CONTINUE: i32 = 11;
/// AuthenticationSASLFinal.
const SASL_FINAL: i32 = 12;

/// The content of a client's first packet.
#[derive(Debug, Default)]
pub struct Start {
    /// The role.
    pub user: String,
    /// The database.
    database: String,
    /// Settings, in the order in which they are made: names in lower case.
    settings: Vec<(String, String)>,
    /// Options of the protocol, of which there are none.
    unknown: Vec<String>,
    /// True if the client speaks a newer version.
    is_newer: bool,
}

/// Reads packets up to the one that starts a session. `None` if the client wanted something else, and has it.
pub async fn start(wire: &mut Wire, shared: &Shared) -> Result<Option<Start>, Ended> {
    loop {
        if let (Some(tls), false, Some(HANDSHAKE)) = (&shared.tls, wire.is_secured(), wire.pipe.inbox.first())
        {
            wire.secure(tls).await?;
            wire.check_protocol()?;
        }
        let Some(packet) = wire.pipe.inbox.start_packet()? else {
            if !wire.read().await? {
                return Ok(None);
            }
            continue;
        };
        let mut content = Content(&packet);
        match content.i32()? {
            code @ (SSL_REQUEST | GSS_REQUEST) => {
                if !wire.pipe.inbox.is_empty() || wire.is_secured() {
                    return Err(violation("received unencrypted data after a request for encryption").into());
                }
                match &shared.tls {
                    Some(tls) if code == SSL_REQUEST => {
                        wire.write(b"S").await?;
                        wire.secure(tls).await?;
                    }
                    _ => wire.write(b"N").await?,
                }
            }
            CANCEL_REQUEST => {
                let (number, key) = (content.i32()?, content.i32()?);
                shared.registry.cancel(number, key);
                return Ok(None);
            }
            version if version >> 16 == 3 => {
                let start = Start::read(version, &mut content)?;
                if shared.tls.as_ref().is_some_and(|tls| tls.is_required) && !wire.is_secured() {
                    let message = "the server refuses connections without encryption";
                    let error = Error::new(SqlState::INVALID_AUTHORIZATION, message);
                    return Err(error.with_hint("connect with sslmode=require").into());
                }
                return Ok(Some(start));
            }
            version => {
                let message = format!(
                    "unsupported frontend protocol {}.{}: server supports 3.0",
                    version >> 16,
                    version & 0xffff
                );
                return Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message).into());
            }
        }
    }
}

impl Start {
    fn read(version: i32, content: &mut Content<'_>) -> Result<Start> {
        let mut start = Start {
            is_newer: version & 0xffff > 0,
            ..Start::default()
        };
        loop {
            let name = content.text()?;
            if name.is_empty() {
                break;
            }
            let value = content.text()?;
            match name.as_str() {
                "user" => start.user = value,
                "database" => start.database = value,
                "options" => start.settings.extend(options(&value)?),
                "replication" if !matches!(value.as_str(), "false" | "off" | "no" | "0") => {
                    return Err(Error::unsupported("replication"));
                }
                "replication" => {}
                name if name.starts_with("_pq_.") => start.unknown.push(name.to_owned()),
                name => start.settings.push((name.to_ascii_lowercase(), value)),
            }
        }
        content.end()?;
        if start.user.is_empty() {
            let message = "no PostgreSQL user name specified in startup packet";
            return Err(Error::new(SqlState::INVALID_AUTHORIZATION, message));
        }
        if start.database.is_empty() {
            start.database = start.user.clone();
        }
        Ok(start)
    }

    /// 3D000 unless the database is the one that is served. `postgres`, which clients try first, and the name of the
    /// role, which they take if none is given, are that database, too.
    pub fn check_database(&self, served: &str) -> Result<()> {
        if [served, "postgres", &self.user].contains(&self.database.as_str()) {
            return Ok(());
        }
        let message = format!("database \"{}\" does not exist", self.database);
        Err(Error::new(SqlState::INVALID_CATALOG_NAME, message)
            .with_hint(format!("the database that is served is called \"{served}\"")))
    }

    /// Tells a client of a newer protocol which one is spoken.
    pub fn negotiate(&self, answers: &mut Answers) {
        if self.is_newer || !self.unknown.is_empty() {
            answers.negotiate(&self.unknown);
        }
    }

    /// Makes the settings that the client wants. 42704 and 22023 for those that there are not.
    pub fn set(&self, connection: &Connection) -> Result<()> {
        for (name, value) in &self.settings {
            connection.execute(&format!("set {} to {}", identifier(name), value_of(name, value)))?;
        }
        Ok(())
    }
}

fn identifier(name: &str) -> String {
    let parts = name
        .split('.')
        .map(|part| format!("\"{}\"", part.replace('"', "\"\"")));
    parts.collect::<Vec<_>>().join(".")
}

/// The value of a setting as SET takes it.
fn value_of(name: &str, value: &str) -> String {
    let quoted = |value: &str| format!("'{}'", value.trim().replace('\'', "''"));
    match name {
        "search_path" => {
            let names = value.split(',').map(|name| quoted(name.trim().trim_matches('"')));
            names.collect::<Vec<_>>().join(", ")
        }
        // asyncpg writes quotes.
        _ => quoted(value.trim_matches('\'')),
    }
}

/// The settings of `options`: `-c name=value` and `--name=value`, apart by blanks, with backslashes before what is
/// meant as it is. 22023 for others.
fn options(text: &str) -> Result<Vec<(String, String)>> {
    let mut words = vec![String::new()];
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match (c, words.last_mut()) {
            (' ' | '\t' | '\n', _) => words.push(String::new()),
            ('\\', Some(word)) => word.extend(characters.next()),
            (c, Some(word)) => word.push(c),
            (_, None) => {}
        }
    }
    let mut words = words.into_iter().filter(|word| !word.is_empty());
    let mut settings = Vec::new();
    while let Some(word) = words.next() {
        let setting = match (word.as_str(), word.strip_prefix("--"), word.strip_prefix("-c")) {
            ("-c", ..) => words.next(),
            (_, Some(long), _) => Some(long.replace('-', "_")),
            (_, _, Some(short)) => Some(short.to_owned()),
            _ => None,
        };
        let setting = setting.and_then(|s| {
            s.split_once('=')
                .map(|(n, v)| (n.to_ascii_lowercase(), v.to_owned()))
        });
        settings.push(setting.ok_or_else(|| {
            let message = format!("invalid command-line argument for server process: {word}");
            Error::new(SqlState::INVALID_PARAMETER, message)
                .with_hint("options are -c NAME=VALUE or --NAME=VALUE")
        })?);
    }
    Ok(settings)
}

/// Lets the client prove who it is. 28P01 if it cannot.
pub async fn authenticate(wire: &mut Wire, shared: &Shared, start: &Start) -> Result<(), Ended> {
    let verifier = match &shared.authentication {
        Authentication::Trust => return Ok(()),
        Authentication::Password { user, verifier } if *user == start.user => verifier.clone(),
        Authentication::Password { .. } | Authentication::Roles => {
            match shared.database.verifier(&start.user) {
                Some(keys) => Verifier::of(keys),
                None => Verifier::of_nobody(&start.user, &shared.secret)?,
            }
        }
    };
    let address = wire.client()?.ip();
    let wrong = || {
        let message = format!("password authentication failed for user \"{}\"", start.user);
        Ended::from(Error::new(SqlState::INVALID_PASSWORD, message))
    };
    let end_point = wire.end_point();
    let offered = match &end_point {
        Some(_) => format!("{BOUND_MECHANISM}\0{MECHANISM}\0\0"),
        None => format!("{MECHANISM}\0\0"),
    };
    ask(wire, SASL, offered.as_bytes()).await?;
    let first = password(wire).await?;
    let mut content = Content(&first);
    let channel = match (content.text()?.as_str(), &end_point) {
        (BOUND_MECHANISM, Some(end_point)) => Channel::Bound(end_point),
        (MECHANISM, Some(_)) => Channel::Unbound,
        (MECHANISM, None) => Channel::Plain,
        _ => return Err(violation("client selected an invalid SASL authentication mechanism").into()),
    };
    let length = usize::try_from(content.i32()?).unwrap_or(0);
    let first = text(content.bytes(length)?)?;
    let (exchange, answer) = verifier.begin(first, channel)?;
    ask(wire, SASL_CONTINUE, answer.as_bytes()).await?;
    let last = password(wire).await?;
    let Some(answer) = exchange.finish(text(&last)?)? else {
        shared.failed_logins.note(address);
        return Err(wrong());
    };
    shared.failed_logins.forget(address);
    let mut answers = Answers::default();
    answers.authentication(SASL_FINAL, answer.as_bytes());
    wire.write(&answers.take()).await
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| violation("malformed SCRAM message"))
}

async fn ask(wire: &mut Wire, kind: i32, data: &[u8]) -> Result<(), Ended> {
    let mut answers = Answers::default();
    answers.authentication(kind, data);
    wire.write(&answers.take()).await
}

/// The next message, which must be one of the login.
async fn password(wire: &mut Wire) -> Result<Vec<u8>, Ended> {
    match wire.message().await? {
        Some(Message::Password(data)) => Ok(data),
        Some(Message::Terminate) | None => Err(Ended::Gone),
        Some(_) => Err(violation("expected a message of the login").into()),
    }
}

/// Welcomes a client: AuthenticationOk, settings, the key to cancel, ReadyForQuery.
pub fn welcome(session: &mut Session, (number, key): (i32, i32), answers: &mut Answers) {
    answers.authentication(OK, &[]);
    session.report(answers);
    answers.key(number, key);
    answers.ready(session.block());
}

/// Tells the error that ends a session, in the encoding of its client.
pub async fn farewell(wire: &mut Wire, encoding: ClientEncoding, error: &Error) {
    let mut answers = Answers::in_encoding(encoding);
    answers.error(Gravity::Fatal, error);
    // The client may be gone.
    let _ = wire.write(&answers.take()).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_settings() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let read = options("-c search_path=a,b  --statement-timeout=5s -cx.y=a\\ b\\\\").unwrap();
        assert_eq!(
            read,
            [
                pair("search_path", "a,b"),
                pair("statement_timeout", "5s"),
                pair("x.y", "a b\\")
            ]
        );
        for wrong in ["-c", "-c a", "x", "-d 5", "--a"] {
            assert_eq!(
                options(wrong).map_err(|e| e.state()),
                Err(SqlState::INVALID_PARAMETER),
                "{wrong}"
            );
        }
        assert_eq!(value_of("search_path", "a, \"B\""), "'a', 'B'");
        assert_eq!(value_of("client_encoding", "'utf-8'"), "'utf-8'");
    }

    #[test]
    fn a_packet_that_is_cut_off_is_an_error() {
        let whole = b"user\0me\0database\0db\0options\0-c a=b\0\0";
        let start = Start::read(3 << 16, &mut Content(whole)).unwrap();
        assert_eq!((start.user.as_str(), start.database.as_str()), ("me", "db"));
        assert!(!start.is_newer);
        for end in 0..whole.len() {
            assert!(
                Start::read(3 << 16, &mut Content(&whole[..end])).is_err(),
                "{end}"
            );
        }
    }
}
