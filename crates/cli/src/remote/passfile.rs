//! The file of passwords, libpq's `.pgpass`: lines `host:port:database:user:password`.

use super::address::Address;
use std::path::{Path, PathBuf};

/// The password that a file has for an address. A file that others can read is not used, and a warning says so.
pub fn password(address: &Address) -> Option<String> {
    let path = address.passfile.clone().or_else(usual)?;
    if let Some(why) = refused(&path)? {
        eprintln!("WARNING: password file \"{}\" {why}", path.display());
        return None;
    }
    let text = std::fs::read_to_string(&path).ok()?;
    found(&text, address)
}

/// The file in the home directory.
fn usual() -> Option<PathBuf> {
    Some(Path::new(&std::env::var_os("HOME")?).join(".pgpass"))
}

/// Why a file is not used. `None` if there is none.
fn refused(path: &Path) -> Option<Option<&'static str>> {
    let facts = std::fs::metadata(path).ok()?;
    if !facts.is_file() {
        return Some(Some("is not a plain file"));
    }
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&facts.permissions()) & 0o077 != 0 {
        return Some(Some(
            "has group or world access; permissions should be u=rw (0600) or less",
        ));
    }
    Some(None)
}

/// The password of the first line that fits.
fn found(text: &str, address: &Address) -> Option<String> {
    let port = address.port.to_string();
    let wanted = [&address.host, &port, &address.database, &address.user];
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .find_map(|line| {
            let fields = fields(line);
            let [own @ .., password] = &fields[..] else {
                return None;
            };
            let fits = own.len() == wanted.len()
                && own
                    .iter()
                    .zip(wanted)
                    .all(|(own, wanted)| own == "*" || own == wanted);
            (fits && !password.is_empty()).then(|| password.clone())
        })
}

/// The fields of a line, in which a backslash makes the next character one of the field. The fifth field goes on to the
/// end of the line.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        let count = fields.len();
        let last = fields.last_mut().expect("it begins with one");
        match c {
            ':' if count < 5 => fields.push(String::new()),
            '\\' => last.extend(characters.next()),
            c => last.push(c),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_counts() {
        let address = Address::parse("postgres://me@db:5433/shop", &|_| None).expect("it is one");
        for (text, password) in [
            ("db:5433:shop:me:one\n*:*:*:*:two", Some("one")),
            ("db:5432:shop:me:one\n*:*:*:*:t\\:w\\\\o", Some("t:w\\o")),
            ("# *:*:*:*:x\n*:*:*:you:one", None),
            ("*:*:*:me:a:b", Some("a:b")),
            ("*:*:*:me", None),
            ("*:*:*:me:", None),
            ("", None),
        ] {
            assert_eq!(found(text, &address).as_deref(), password, "{text}");
        }
    }
}
