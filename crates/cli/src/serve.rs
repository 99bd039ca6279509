//! `frazil serve`: a database for PostgreSQL clients, until a signal ends it.

use crate::arguments::ServeOptions;
use crate::complaint::Complaint;
use crate::{notify, open_files, opening};
use frazil::{Access, Database, Error, FileAccess, SqlState};
use frazil_server::{Authentication, Limits, Options, Server, SlowLog, Stopper, Tls, Verifier, Watching};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::Write;
use std::path::Path;

/// The environment variable of the password.
const PASSWORD: &str = "FRAZIL_PASSWORD";
/// The name of a database that has no directory.
const NAME: &str = "frazil";
/// Connections that superusers alone can take, unless an option gives their number: PostgreSQL's default.
const RESERVED: usize = 3;

/// Runs the command.
pub fn run(options: &ServeOptions) -> Result<(), Complaint> {
    if let Some(warning) = open_files::allow(options.max_connections) {
        eprintln!("warning: {warning}");
    }
    let allowed = FileAccess::of_text(&options.file_access).map_err(Complaint::opening)?;
    let access = match options.readonly {
        true => Access::Read,
        false => Access::Write,
    };
    let directory = options.directory.as_deref();
    let database = opening::open(directory, access, &allowed)?;
    let authentication = authentication(options, &database)?;
    let name = options.database.clone().or_else(|| directory.and_then(name_of));
    let name = name.unwrap_or_else(|| NAME.to_owned());
    let tls = certificate(options, access).map_err(Complaint::opening)?;
    let server = Server::bind(
        database.clone(),
        Options {
            listen: options.listen,
            authentication,
            tls: tls.clone(),
            name: name.clone(),
            max_connections: options.max_connections.into(),
            limits: Limits {
                login_timeout: options.login_timeout,
                shutdown_timeout: options.shutdown_timeout,
                reserved_connections: reserved_connections(options)?,
                ..Limits::default()
            },
            watching: watching(options),
        },
    );
    let server = server.map_err(Complaint::opening)?;
    hear(server.stopper(), tls.clone())?;
    tell(options, &name, &server, tls.as_ref());
    notify::ready();
    let served = server.run();
    let closed = database.close();
    served.and(closed).map_err(Complaint::from)
}

/// The connections that superusers alone can take.
fn reserved_connections(options: &ServeOptions) -> Result<usize, Complaint> {
    let most = options.max_connections;
    match options.superuser_reserved_connections {
        None => Ok(usize::from(most - 1).min(RESERVED)),
        Some(reserved) if reserved < most => Ok(reserved.into()),
        Some(reserved) => {
            let message = format!(
                "superuser_reserved_connections ({reserved}) must be less than max_connections ({most})"
            );
            Err(Complaint::opening(frazil::Error::new(
                frazil::SqlState::INVALID_PARAMETER,
                message,
            )))
        }
    }
}

/// The ways to watch the server.
fn watching(options: &ServeOptions) -> Watching {
    let slow_log = options
        .log_slow_statements
        .map(|least| SlowLog::new(least, options.log_values, std::io::stderr()));
    Watching {
        metrics: options.metrics,
        slow_log,
    }
}

/// The certificate: the one that the options name, or one that the server makes for itself if other machines reach it
/// or TLS is required.
fn certificate(options: &ServeOptions, access: Access) -> frazil::Result<Option<Tls>> {
    if let (Some(certificate), Some(key)) = (&options.tls_cert, &options.tls_key) {
        return Tls::of_files(certificate, key, options.tls_required).map(Some);
    }
    let address = options.listen.ip();
    if address.is_loopback() && !options.tls_required {
        return Ok(None);
    }
    let can_write = matches!(access, Access::Write);
    let directory = options.directory.as_deref();
    Tls::self_signed(directory, can_write, address, options.tls_required).map(Some)
}

/// The name of a directory, or the last name of a URL, up to its first dot.
fn name_of(directory: &Path) -> Option<String> {
    let directory = match Database::is_url(directory) {
        true => directory.to_path_buf(),
        false => directory.canonicalize().ok()?,
    };
    let name = directory.file_name()?.to_str()?.to_owned();
    let stem = name.split('.').next().filter(|stem| !stem.is_empty());
    Some(stem.unwrap_or(&name).to_owned())
}

/// Reads from the options who may log in: without any, the roles of the database. 28000 if none can.
fn authentication(options: &ServeOptions, database: &Database) -> Result<Authentication, Complaint> {
    if options.trust_loopback {
        return Ok(Authentication::Trust);
    }
    let Some(user) = options.user.clone() else {
        if database.has_logins() {
            return Ok(Authentication::Roles);
        }
        let error = Error::new(SqlState::INVALID_AUTHORIZATION, "nobody could log in");
        return Err(Complaint::opening(error.with_hint(
            "--trust-loopback lets programs of this machine in without a password, --user NAME asks for one, and so do \
             roles that were created with LOGIN PASSWORD",
        )));
    };
    let verifier = Verifier::new(&password(options)?).map_err(Complaint::opening)?;
    Ok(Authentication::Password { user, verifier })
}

fn password(options: &ServeOptions) -> Result<String, Complaint> {
    let password = match &options.password_file {
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|e| {
                let message = format!("could not read the password of \"{}\": {e}", path.display());
                Complaint::opening(Error::new(SqlState::of_io(&e), message))
            })?;
            text.lines().next().unwrap_or_default().to_owned()
        }
        None => std::env::var(PASSWORD).unwrap_or_default(),
    };
    match password.is_empty() {
        false => Ok(password),
        true => {
            let error = Error::new(SqlState::INVALID_AUTHORIZATION, "there is no password for --user");
            let hint = format!("set {PASSWORD}, or give a file with --password-file");
            Err(Complaint::opening(error.with_hint(hint)))
        }
    }
}

/// Drains the server at the first signal, and ends it at the second. SIGHUP reads the certificate anew.
fn hear(stopper: Stopper, tls: Option<Tls>) -> Result<(), Complaint> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    let hear_all = move || {
        let mut is_draining = false;
        for signal in signals.forever() {
            match signal {
                SIGHUP => reload(tls.as_ref()),
                _ if is_draining => stopper.end(),
                _ => {
                    complain("shutting down: open transactions may end; another signal ends them");
                    notify::stopping();
                    stopper.drain();
                    is_draining = true;
                }
            }
        }
    };
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(hear_all)?;
    Ok(())
}

/// Reads the certificate anew, and says what came of it.
fn reload(tls: Option<&Tls>) {
    let Some((tls, certificate)) = tls.and_then(|tls| Some((tls, tls.certificate()?))) else {
        return complain("there is no certificate to be read anew");
    };
    complain(&match tls.reload() {
        Ok(()) => {
            let certificate = certificate.display();
            format!("new connections have the certificate of \"{certificate}\"")
        }
        Err(error) => format!("WARNING: the server keeps its certificate: {error}"),
    });
}

/// Writes a line to standard error, which may be closed: the server stays.
fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Says what is served, where, and to whom, in one piece. Whoever listens may go: the server stays.
fn tell(options: &ServeOptions, name: &str, server: &Server, tls: Option<&Tls>) {
    let who = match &options.user {
        None if options.trust_loopback => "WITHOUT A PASSWORD, to every program of this machine".to_owned(),
        None => "to its roles with their passwords".to_owned(),
        Some(user) => format!("to the role \"{user}\" with its password"),
    };
    let how = match (tls, options.tls_required) {
        (None, _) => "",
        (Some(_), false) => ", with TLS for clients that ask for it",
        (Some(_), true) => ", with TLS",
    };
    let mut text = format!("serving database \"{name}\" at {} {who}{how}\n", server.address());
    if let Some(address) = server.metrics_address() {
        text += &format!("metrics and health: http://{address}/metrics\n");
    }
    if options.tls_cert.is_none() && tls.is_some() {
        let certificate = tls
            .and_then(Tls::certificate)
            .map(|path| path.display().to_string());
        let certificate = certificate.unwrap_or_else(|| "in memory, until the server ends".to_owned());
        text += &format!("self-signed certificate: {certificate}\n");
    }
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
