//! The address of a server: a URL of libpq's form, and the environment for what the URL leaves out.

use super::errors::wrong;
use frazil::{Error, Result, SqlState};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The beginnings of a URL.
const SCHEMES: [&str; 2] = ["postgresql://", "postgres://"];
/// PostgreSQL's port.
const PORT: u16 = 5432;
/// The name that the server's lists of sessions show.
const APPLICATION: &str = "frazil";
/// Parameters of a URL, with the environment variable of each.
const PARAMETERS: [(&str, &str); 12] = [
    ("host", "PGHOST"),
    ("port", "PGPORT"),
    ("user", "PGUSER"),
    ("password", "PGPASSWORD"),
    ("dbname", "PGDATABASE"),
    ("sslmode", "PGSSLMODE"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("application_name", "PGAPPNAME"),
    ("options", "PGOPTIONS"),
    ("connect_timeout", "PGCONNECT_TIMEOUT"),
    ("passfile", "PGPASSFILE"),
    ("client_encoding", "PGCLIENTENCODING"),
];

/// True for a URL of a server.
pub fn is_url(text: &str) -> bool {
    SCHEMES.iter().any(|scheme| text.starts_with(scheme))
}

/// The use of TLS, as libpq's `sslmode` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SslMode {
    /// Never.
    Disable,
    /// If the server offers it.
    Prefer,
    /// Always, whatever the certificate.
    Require,
    /// Always, with a certificate that one of `sslrootcert` certifies.
    VerifyCa,
    /// As before, and the certificate names the host.
    VerifyFull,
}

/// A password that is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// A server's address, and the login there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// A name, an IP address, or the absolute path of the directory of a Unix socket.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The role.
    pub user: String,
    /// The password of the URL or the environment.
    pub password: Option<Secret>,
    /// The name of the database.
    pub database: String,
    /// The use of TLS.
    pub ssl_mode: SslMode,
    /// Certificates in PEM that certify the server's.
    pub root_certificate: Option<PathBuf>,
    /// The name that the session has in the server's lists.
    pub application: String,
    /// Settings for the session: `-c name=value`.
    pub options: Option<String>,
    /// Time to wait for each address of the host.
    pub connect_timeout: Option<Duration>,
    /// File of passwords.
    pub passfile: Option<PathBuf>,
}

/// The values of the parameters in the order of [`PARAMETERS`].
#[derive(Default)]
struct Given([Option<String>; PARAMETERS.len()]);

impl Given {
    fn set(&mut self, name: &str, value: String) -> Result<()> {
        // Words of JDBC's URLs that libpq takes, too.
        let (name, value) = match (name, value.as_str()) {
            ("ssl", "true") => ("sslmode", "require".to_owned()),
            _ => (name, value),
        };
        let Some(at) = PARAMETERS.iter().position(|(known, _)| *known == name) else {
            let names: Vec<&str> = PARAMETERS.iter().map(|(known, _)| *known).collect();
            return Err(
                wrong(format!("the connection parameter \"{name}\" is not supported"))
                    .with_hint(format!("supported parameters are {}", names.join(", "))),
            );
        };
        self.0[at] = Some(value);
        Ok(())
    }

    fn take(&mut self, name: &str) -> Option<String> {
        let at = PARAMETERS.iter().position(|(known, _)| *known == name)?;
        self.0[at].take().filter(|value| !value.is_empty())
    }
}

impl Address {
    /// Reads a URL. `variable` gives the environment's variables, for what the URL leaves out. 22023 for what is not a
    /// URL, for a parameter that is not supported, and for several hosts.
    pub fn parse(url: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Address> {
        let mut given = Given::default();
        for (name, of) in PARAMETERS {
            if let Some(value) = variable(of) {
                given.set(name, value)?;
            }
        }
        read_url(url, &mut given)?;
        Address::of(given, variable)
    }

    /// Reads a URL, with the program's environment.
    pub fn of_environment(url: &str) -> Result<Address> {
        Address::parse(url, &|name| std::env::var(name).ok())
    }

    /// The address of another database, role, host and port, in this order; `-` and what is missing stay. The password
    /// stays with its role on its host. 22023 for what is not a port.
    pub fn changed(&self, words: &[String]) -> Result<Address> {
        let word = |at: usize| words.get(at).filter(|word| *word != "-");
        let mut other = self.clone();
        other.database = word(0).unwrap_or(&self.database).clone();
        other.user = word(1).unwrap_or(&self.user).clone();
        other.host = word(2).unwrap_or(&self.host).clone();
        if let Some(port) = word(3) {
            other.port = port
                .parse()
                .map_err(|_| wrong(format!("\"{port}\" is not a port")))?;
        }
        if (&other.user, &other.host, other.port) != (&self.user, &self.host, self.port) {
            other.password = None;
        }
        Ok(other)
    }

    fn of(mut given: Given, variable: &dyn Fn(&str) -> Option<String>) -> Result<Address> {
        let named = |name: &str| variable(name).filter(|value| !value.is_empty());
        let user = given
            .take("user")
            .or_else(|| named("USER"))
            .or_else(|| named("LOGNAME"));
        let user = user.ok_or_else(|| {
            wrong("the URL names no user")
                .with_hint("write postgresql://USER@HOST:PORT/DATABASE, or set PGUSER")
        })?;
        if let Some(encoding) = given.take("client_encoding")
            && !matches!(encoding.to_lowercase().as_str(), "utf8" | "utf-8" | "auto")
        {
            return Err(
                wrong(format!("the client encoding \"{encoding}\" is not supported"))
                    .with_hint("the shell reads and writes UTF8"),
            );
        }
        let port = match given.take("port") {
            Some(text) => text
                .parse()
                .map_err(|_| wrong(format!("\"{text}\" is not a port")))?,
            None => PORT,
        };
        let host = given.take("host").unwrap_or_else(|| "localhost".to_owned());
        if host.contains(',') {
            return Err(wrong("several hosts in a URL are not supported").with_hint("name one of them"));
        }
        let ssl_mode = given.take("sslmode").map(|mode| ssl_mode(&mode)).transpose()?;
        let seconds = given.take("connect_timeout").map(|text| {
            text.parse::<u64>()
                .map_err(|_| wrong(format!("connect_timeout takes seconds, not \"{text}\"")))
        });
        // 0 waits for ever, as libpq has it.
        let seconds = seconds.transpose()?.filter(|&seconds| seconds > 0);
        Ok(Address {
            host,
            port,
            password: given.take("password").map(Secret),
            database: given.take("dbname").unwrap_or_else(|| user.clone()),
            user,
            ssl_mode: ssl_mode.unwrap_or(SslMode::Prefer),
            root_certificate: given.take("sslrootcert").map(PathBuf::from),
            application: given
                .take("application_name")
                .unwrap_or_else(|| APPLICATION.to_owned()),
            options: given.take("options"),
            connect_timeout: seconds.map(Duration::from_secs),
            passfile: given.take("passfile").map(PathBuf::from),
        })
    }

    /// The path of the Unix socket; `None` for a host.
    pub fn socket(&self) -> Option<PathBuf> {
        let directory = self.host.starts_with('/').then(|| PathBuf::from(&self.host));
        directory.map(|directory| directory.join(format!(".s.PGSQL.{}", self.port)))
    }

    /// The place for people: `"shop.example", port 5433`.
    pub fn place(&self) -> String {
        match self.socket() {
            Some(path) => format!("socket \"{}\"", path.display()),
            None => format!("\"{}\", port {}", self.host, self.port),
        }
    }
}

/// Reads the parts of a URL.
fn read_url(url: &str, given: &mut Given) -> Result<()> {
    let rest = SCHEMES.iter().find_map(|scheme| url.strip_prefix(scheme));
    let rest = rest.ok_or_else(|| wrong("a URL of a server begins with postgresql://"))?;
    let (front, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = front.split_once('/').unwrap_or((front, ""));
    let (login, place) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let (host, port) = host_and_port(place)?;
    let parts = [
        ("user", user),
        ("password", password),
        ("host", host),
        ("port", port),
        ("dbname", database),
    ];
    for (name, text) in parts.into_iter().filter(|(_, text)| !text.is_empty()) {
        given.set(name, decoded(text)?)?;
    }
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let (name, value) = parameter
            .split_once('=')
            .ok_or_else(|| wrong(format!("the parameter \"{parameter}\" has no value")))?;
        given.set(&decoded(name)?, decoded(value)?)?;
    }
    Ok(())
}

/// Cuts `host:port`, in which the host may be an IPv6 address in brackets.
fn host_and_port(place: &str) -> Result<(&str, &str)> {
    match place.strip_prefix('[') {
        None => Ok(place.split_once(':').unwrap_or((place, ""))),
        Some(rest) => {
            let (host, port) = rest
                .split_once(']')
                .ok_or_else(|| wrong("the IPv6 address of the URL has no \"]\""))?;
            match (port, port.strip_prefix(':')) {
                ("", _) => Ok((host, "")),
                (_, Some(port)) => Ok((host, port)),
                (_, None) => Err(wrong(format!("the URL has \"{port}\" behind its host"))),
            }
        }
    }
}

/// Replaces `%40` and the like by their bytes.
fn decoded(text: &str) -> Result<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (digits, behind) = rest.split_at_checked(2).unwrap_or((&[], &[]));
        let digits = std::str::from_utf8(digits)
            .ok()
            .filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let byte = byte.filter(|&byte| byte != 0);
        bytes.push(byte.ok_or_else(|| wrong(format!("\"{text}\" has a % that no two digits follow")))?);
        rest = behind;
    }
    String::from_utf8(bytes).map_err(|_| wrong(format!("\"{text}\" is not UTF-8")))
}

fn ssl_mode(text: &str) -> Result<SslMode> {
    match text {
        "disable" => Ok(SslMode::Disable),
        "prefer" => Ok(SslMode::Prefer),
        "require" => Ok(SslMode::Require),
        "verify-ca" => Ok(SslMode::VerifyCa),
        "verify-full" => Ok(SslMode::VerifyFull),
        other => Err(Error::new(
            SqlState::INVALID_PARAMETER,
            format!("sslmode \"{other}\" is not supported"),
        )
        .with_hint("it is disable, prefer, require, verify-ca or verify-full")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str, variables: &[(&str, &str)]) -> Result<Address> {
        let variables: Vec<(String, String)> = variables
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
            .collect();
        Address::parse(url, &|name| {
            let found = variables.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        })
    }

    #[test]
    fn the_parts_of_a_url_are_read() {
        let read = parsed(
            "postgresql://me%40home:se:cret%2F@db.example:5433/shop%20x?sslmode=verify-full&sslrootcert=ca.crt\
             &application_name=a&options=-c%20work_mem%3D1&connect_timeout=3",
            &[],
        )
        .expect("it is one");
        assert_eq!(
            (read.user.as_str(), read.host.as_str(), read.port),
            ("me@home", "db.example", 5433)
        );
        assert_eq!(read.password, Some(Secret("se:cret/".to_owned())));
        assert_eq!(
            (read.database.as_str(), read.ssl_mode),
            ("shop x", SslMode::VerifyFull)
        );
        assert_eq!(read.options.as_deref(), Some("-c work_mem=1"));
        assert_eq!(read.connect_timeout, Some(Duration::from_secs(3)));
        assert!(!format!("{read:?}").contains("cret"));
    }

    #[test]
    fn the_environment_gives_what_the_url_leaves_out() {
        let variables = [
            ("PGHOST", "h"),
            ("PGPORT", "1"),
            ("PGUSER", "u"),
            ("PGSSLMODE", "disable"),
        ];
        let read = parsed("postgres://", &variables).expect("it is one");
        assert_eq!(
            (read.host.as_str(), read.port, read.database.as_str()),
            ("h", 1, "u")
        );
        assert_eq!(read.ssl_mode, SslMode::Disable);
        let read = parsed("postgres://x@[::1]:2/d?host=%2Frun%2Fpg", &variables).expect("it is one");
        assert_eq!(read.socket(), Some(PathBuf::from("/run/pg/.s.PGSQL.2")));
        let read = parsed("postgres:///", &[("USER", "os")]).expect("it is one");
        assert_eq!(
            (read.user.as_str(), read.host.as_str(), read.port),
            ("os", "localhost", 5432)
        );
    }

    #[test]
    fn what_is_wrong_in_a_url_is_named() {
        for (url, wanted) in [
            ("postgres://u@h:x/d", "\"x\" is not a port"),
            ("postgres://u@h:70000/d", "\"70000\" is not a port"),
            ("postgres://u@a,b/d", "several hosts"),
            ("postgres://u@h/%zz", "a % that no two digits"),
            ("postgres://u@h/%e", "a % that no two digits"),
            ("postgres://u@h/%00", "a % that"),
            ("postgres://u@h/%ff", "is not UTF-8"),
            ("postgres://u@[::1/d", "no \"]\""),
            ("postgres://u@h/d?sslmode=allow", "sslmode \"allow\""),
            ("postgres://u@h/d?gssencmode=x", "\"gssencmode\" is not supported"),
            ("postgres://u@h/d?options", "has no value"),
            ("postgres://u@h/d?connect_timeout=soon", "takes seconds"),
            (
                "postgres://u@h/d?client_encoding=latin1",
                "\"latin1\" is not supported",
            ),
            ("postgres:///", "names no user"),
        ] {
            let told = parsed(url, &[]).expect_err("it is wrong");
            assert!(told.message().contains(wanted), "{url}: {}", told.message());
            assert_eq!(told.state(), SqlState::INVALID_PARAMETER);
        }
    }
}
