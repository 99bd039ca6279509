//! `frazil serve`: a database for PostgreSQL clients, until a signal ends it.

use crate::arguments::ServeOptions;
use crate::complaint::Complaint;
use crate::opening;
use frazil::{Access, Error, FileAccess, SqlState};
use frazil_server::{Authentication, Options, Server, Stopper, Tls, Verifier};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::Write;
use std::path::Path;

/// The environment variable of the password.
const PASSWORD: &str = "FRAZIL_PASSWORD";
/// The name of a database that has no directory.
const NAME: &str = "frazil";

/// Runs the command.
pub fn run(options: &ServeOptions) -> Result<(), Complaint> {
    let authentication = authentication(options)?;
    let tls = match (&options.tls_cert, &options.tls_key) {
        (Some(certificate), Some(key)) => {
            let tls = Tls::of_files(certificate, key, options.tls_required);
            Some(tls.map_err(Complaint::opening)?)
        }
        _ => None,
    };
    let allowed = FileAccess::of_text(&options.file_access).map_err(Complaint::opening)?;
    let access = match options.readonly {
        true => Access::Read,
        false => Access::Write,
    };
    let directory = options.directory.as_deref();
    let database = opening::open(directory, access, &allowed)?;
    let name = options.database.clone().or_else(|| directory.and_then(name_of));
    let name = name.unwrap_or_else(|| NAME.to_owned());
    let server = Server::bind(
        database.clone(),
        Options {
            listen: options.listen,
            authentication,
            tls,
            name: name.clone(),
            max_connections: options.max_connections.into(),
        },
    );
    let server = server.map_err(Complaint::opening)?;
    hear(server.stopper())?;
    tell(options, &name, &server)?;
    let served = server.run();
    let closed = database.close();
    served.and(closed).map_err(Complaint::from)
}

/// The name of a directory up to its first dot.
fn name_of(directory: &Path) -> Option<String> {
    let name = directory.canonicalize().ok()?.file_name()?.to_str()?.to_owned();
    let stem = name.split('.').next().filter(|stem| !stem.is_empty());
    Some(stem.unwrap_or(&name).to_owned())
}

/// Reads from the options who may log in. 28000 if they do not say.
fn authentication(options: &ServeOptions) -> Result<Authentication, Complaint> {
    if options.trust_loopback {
        return Ok(Authentication::Trust);
    }
    let Some(user) = options.user.clone() else {
        let error = Error::new(SqlState::INVALID_AUTHORIZATION, "nobody could log in");
        return Err(Complaint::opening(error.with_hint(
            "--trust-loopback lets programs of this machine in without a password; --user NAME asks for one",
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

/// Drains the server at the first signal, and ends it at the second.
fn hear(stopper: Stopper) -> Result<(), Complaint> {
    let mut signals = Signals::new([SIGTERM, SIGINT])?;
    let hear_all = move || {
        for (count, _) in signals.forever().enumerate() {
            match count {
                0 => {
                    eprintln!("shutting down: open transactions may end; another signal ends them");
                    stopper.drain();
                }
                _ => stopper.end(),
            }
        }
    };
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(hear_all)?;
    Ok(())
}

/// Says what is served, where, and to whom.
fn tell(options: &ServeOptions, name: &str, server: &Server) -> Result<(), Complaint> {
    let who = match &options.user {
        None => "WITHOUT A PASSWORD, to every program of this machine".to_owned(),
        Some(user) => format!("to the role \"{user}\" with its password"),
    };
    let mut out = std::io::stdout().lock();
    let how = match (&options.tls_cert, options.tls_required) {
        (None, _) => "",
        (Some(_), false) => ", with TLS for clients that ask for it",
        (Some(_), true) => ", with TLS",
    };
    writeln!(
        out,
        "serving database \"{name}\" at {} {who}{how}",
        server.address()
    )?;
    Ok(out.flush()?)
}
