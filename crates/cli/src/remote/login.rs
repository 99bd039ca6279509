//! Connects to a server and logs in.

use super::address::{Address, Secret, SslMode};
use super::errors::{error_of, lost, violation, wrong};
use super::wire::{Stream, Wire, answer_to_tls};
use super::{passfile, tls};
use crate::interrupt;
use fallible_iterator::FallibleIterator;
use frazil::{Error, Result, SqlState};
use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use std::io::{self, BufRead, IsTerminal, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;

/// The state of a connection that cannot be made: PostgreSQL's sqlclient_unable_to_establish_sqlconnection.
const CANNOT_CONNECT: SqlState = SqlState("08001");

/// Connects. True stands for TLS.
pub fn connected(address: &Address) -> Result<(Stream, bool)> {
    if let Some(path) = address.socket() {
        let socket = UnixStream::connect(&path).map_err(|error| unreachable(address, &error))?;
        return Ok((Stream::Unix(socket), false));
    }
    let mut socket = dialled(address)?;
    if address.ssl_mode == SslMode::Disable {
        return Ok((Stream::Tcp(socket), false));
    }
    let is_wish = address.ssl_mode == SslMode::Prefer;
    match answer_to_tls(&mut socket)? {
        b'S' => match tls::secured(socket, address) {
            Ok(stream) => Ok((Stream::Tls(Box::new(stream)), true)),
            // As in libpq, a wish is given up.
            Err(_) if is_wish => Ok((Stream::Tcp(dialled(address)?), false)),
            Err(error) => Err(error),
        },
        b'N' if is_wish => Ok((Stream::Tcp(socket), false)),
        b'N' => Err(Error::new(
            CANNOT_CONNECT,
            format!("the server at {} does not offer TLS", address.place()),
        )
        .with_hint("sslmode=disable or sslmode=prefer connects without")),
        _ => Err(violation(format!(
            "{} is not a PostgreSQL server",
            address.place()
        ))),
    }
}

/// A socket to one of the host's addresses.
fn dialled(address: &Address) -> Result<TcpStream> {
    let found = (address.host.as_str(), address.port).to_socket_addrs();
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for target in found.map_err(|error| unreachable(address, &error))? {
        let socket = match address.connect_timeout {
            Some(timeout) => TcpStream::connect_timeout(&target, timeout),
            None => TcpStream::connect(target),
        };
        match socket {
            Ok(socket) => {
                // Without it answers come later, and no less right.
                let _ = socket.set_nodelay(true);
                return Ok(socket);
            }
            Err(error) => last = error,
        }
    }
    Err(unreachable(address, &last))
}

fn unreachable(address: &Address, error: &io::Error) -> Error {
    let message = format!("cannot connect to {}: {error}", address.place());
    Error::new(CANNOT_CONNECT, message)
        .with_hint("is the server running there, and does it take connections?")
}

/// Logs in up to AuthenticationOk.
pub fn log_in(wire: &mut Wire, address: &Address) -> Result<()> {
    let mut parameters = vec![
        ("user", address.user.as_str()),
        ("database", address.database.as_str()),
        ("application_name", address.application.as_str()),
        ("client_encoding", "UTF8"),
    ];
    parameters.extend(address.options.as_deref().map(|options| ("options", options)));
    let made = frontend::startup_message(parameters, &mut wire.out);
    made.map_err(|_| wrong("the URL has a zero byte"))?;
    send(wire)?;
    loop {
        match receive(wire)? {
            Message::AuthenticationOk => return Ok(()),
            Message::AuthenticationCleartextPassword => {
                let password = password(address)?;
                answer(wire, |out| frontend::password_message(password.0.as_bytes(), out))?;
            }
            Message::AuthenticationMd5Password(body) => {
                let password = password(address)?;
                let hash = md5_hash(address.user.as_bytes(), password.0.as_bytes(), body.salt());
                answer(wire, |out| frontend::password_message(hash.as_bytes(), out))?;
            }
            Message::AuthenticationSasl(body) => {
                let has_scram = body.mechanisms().any(|mechanism| Ok(mechanism == SCRAM_SHA_256));
                if !has_scram.map_err(|error| lost(&error))? {
                    return Err(unsupported("a SASL mechanism other than SCRAM-SHA-256"));
                }
                let password = password(address)?;
                let scram = ScramSha256::new(password.0.as_bytes(), ChannelBinding::unsupported());
                exchange_scram(wire, scram)?;
            }
            Message::NoticeResponse(body) => eprintln!("{}", super::errors::notice_of(body.fields())),
            _ => return Err(unsupported("another login than by a password")),
        }
    }
}

/// Proves the password, and that the server knows it.
fn exchange_scram(wire: &mut Wire, mut scram: ScramSha256) -> Result<()> {
    let refused = |error: io::Error| Error::new(SqlState::INVALID_AUTHORIZATION, error.to_string());
    answer(wire, |out| {
        frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), out)
    })?;
    let Message::AuthenticationSaslContinue(body) = receive(wire)? else {
        return Err(violation("the server breaks the login off"));
    };
    scram.update(body.data()).map_err(refused)?;
    answer(wire, |out| frontend::sasl_response(scram.message(), out))?;
    let Message::AuthenticationSaslFinal(body) = receive(wire)? else {
        return Err(violation("the server does not prove that it knows the password"));
    };
    scram.finish(body.data()).map_err(refused)
}

fn answer(wire: &mut Wire, write: impl FnOnce(&mut bytes::BytesMut) -> io::Result<()>) -> Result<()> {
    write(&mut wire.out).map_err(|_| wrong("the password has a zero byte"))?;
    send(wire)
}

fn send(wire: &mut Wire) -> Result<()> {
    wire.send().map_err(|error| lost(&error))
}

/// The next message. The error that the server tells instead.
fn receive(wire: &mut Wire) -> Result<Message> {
    match wire.receive().map_err(|error| lost(&error))? {
        Message::ErrorResponse(body) => Err(error_of(body.fields())),
        message => Ok(message),
    }
}

fn unsupported(what: &str) -> Error {
    let message = format!("the server asks for {what}, which is not supported");
    Error::new(SqlState::FEATURE_NOT_SUPPORTED, message)
}

/// The password: of the URL or the environment, of the file of passwords, or typed. 28P01 if there is nobody to type
/// it.
fn password(address: &Address) -> Result<Secret> {
    if let Some(given) = &address.password {
        return Ok(given.clone());
    }
    if let Some(kept) = passfile::password(address) {
        return Ok(Secret(kept));
    }
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let error = Error::new(
            SqlState::INVALID_PASSWORD,
            "the server asks for a password, and none is given",
        );
        return Err(error.with_hint("set PGPASSWORD, or write it to ~/.pgpass"));
    }
    typed(&address.user).map_err(|error| lost(&error))
}

/// Reads a password that is typed and not shown.
fn typed(user: &str) -> io::Result<Secret> {
    let stdin = io::stdin();
    let before = tcgetattr(&stdin)?;
    let mut hidden = before.clone();
    hidden.local_flags.remove(LocalFlags::ECHO);
    hidden.local_flags.insert(LocalFlags::ECHONL);
    eprint!("Password for user {user}: ");
    io::stderr().flush()?;
    tcsetattr(&stdin, SetArg::TCSAFLUSH, &hidden)?;
    let restored = before.clone();
    let restore = move || {
        // The program ends in any case.
        let _ = tcsetattr(io::stdin(), SetArg::TCSAFLUSH, &restored);
    };
    let mut line = String::new();
    let read = interrupt::leaving(restore, || stdin.lock().read_line(&mut line));
    tcsetattr(&stdin, SetArg::TCSAFLUSH, &before)?;
    read?;
    Ok(Secret(line.trim_end_matches(['\n', '\r']).to_owned()))
}
