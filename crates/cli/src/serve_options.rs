//! Options of `frazil serve` from three places: the command line, the environment, and a file in TOML. An option that
//! two of them give has the value of the first.
//!
//! The options of the command line are the list; the others are added to it as if they had been typed, and checked one
//! by one first, so that a complaint names the place of a wrong value.

use crate::arguments::{Arguments, Command, ServeOptions};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, CommandFactory, FromArgMatches, Parser};
use std::ffi::OsString;
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// The command's word.
const SERVE: &str = "serve";
/// Options that no other place gives.
const TYPED: [&str; 3] = ["help", "version", "config"];

/// Reads the command line. A mistake in it is told, and ends the program with 2.
pub fn parse(mut words: Vec<OsString>) -> Arguments {
    let matches = Arguments::command().get_matches_from(&words);
    if let Some((SERVE, typed)) = matches.subcommand() {
        let others = from_other_places(typed).unwrap_or_else(|message| complain(&message));
        // Behind the command's word, so that `--` does not make names of them.
        let place = words
            .iter()
            .position(|word| word == SERVE)
            .map_or(words.len(), |at| at + 1);
        words.splice(place..place, others);
    }
    let arguments = Arguments::from_arg_matches(&Arguments::command().get_matches_from(&words));
    let arguments = arguments.unwrap_or_else(|error| error.exit());
    if let Some(Command::Serve(options)) = &arguments.command
        && let Err(message) = check(options)
    {
        complain(message);
    }
    arguments
}

fn complain(message: &str) -> ! {
    let mut command = Arguments::command();
    command.build();
    let serve = command.find_subcommand_mut(SERVE);
    match serve {
        Some(serve) => serve.error(ErrorKind::ValueValidation, message).exit(),
        None => command.error(ErrorKind::ValueValidation, message).exit(),
    }
}

/// Options that exclude each other, or need another one, wherever they were given.
fn check(options: &ServeOptions) -> Result<(), &'static str> {
    let has_password = options.user.is_some() || options.password_file.is_some();
    match () {
        () if options.trust_loopback && has_password => Err(
            "--trust-loopback lets clients in without a password, and --user and --password-file ask for one: \
             leave one of them out, here, in the environment, or in the file of options",
        ),
        () if options.password_file.is_some() && options.user.is_none() => {
            Err("--password-file needs --user: the role whose password it is")
        }
        () if options.tls_cert.is_some() != options.tls_key.is_some() => {
            Err("--tls-cert and --tls-key need each other: a certificate and its private key")
        }
        () if options.log_values && options.log_slow_statements.is_none() => {
            Err("--log-values needs --log-slow-statements: the time from which statements are logged")
        }
        () if options.readonly && options.directory.is_none() => {
            Err("--readonly needs the directory of a database")
        }
        () => Ok(()),
    }
}

/// The options that the command line does not give, as words of it.
fn from_other_places(typed: &ArgMatches) -> Result<Vec<OsString>, String> {
    let mut command = Arguments::command();
    command.build();
    let Some(serve) = command.find_subcommand(SERVE) else {
        return Ok(Vec::new());
    };
    let mut options: Vec<&Arg> = serve.get_arguments().collect();
    options.retain(|option| !TYPED.contains(&option.get_id().as_str()));
    let file = match typed.get_one::<std::path::PathBuf>("config") {
        Some(path) => Some(path.clone()),
        None => std::env::var_os("FRAZIL_CONFIG")
            .filter(|path| !path.is_empty())
            .map(Into::into),
    };
    let in_file = match file {
        Some(path) => read(&path, &options)?,
        None => Vec::new(),
    };
    let mut words = Vec::new();
    for option in options {
        let name = option.get_id().as_str();
        if typed.value_source(name) == Some(ValueSource::CommandLine) {
            continue;
        }
        let variable = format!("FRAZIL_{}", name.to_uppercase());
        let given = match std::env::var(&variable) {
            // Recipes of containers set variables that have no value.
            Ok(value) if !value.is_empty() => Some((format!("the environment variable {variable}"), value)),
            _ => {
                let found = in_file.iter().find(|(key, ..)| key == name);
                found.map(|(_, place, value)| (place.clone(), value.clone()))
            }
        };
        if let Some((place, value)) = given {
            words.extend(word(option, &value).map_err(|message| format!("{place}: {message}"))?);
        }
    }
    Ok(words)
}

/// A value as the word of the command line; `None` for a switch that is off.
fn word(option: &Arg, value: &str) -> Result<Option<OsString>, String> {
    let name = option.get_id().as_str().replace('_', "-");
    let word = match (option.is_positional(), option.get_action().takes_values()) {
        (true, _) => value.to_owned(),
        (_, true) => format!("--{name}={value}"),
        (_, false) => match value {
            "on" | "true" | "yes" | "1" => format!("--{name}"),
            "off" | "false" | "no" | "0" => return Ok(None),
            _ => return Err(format!("\"{value}\" is neither on nor off")),
        },
    };
    let alone = Arguments::try_parse_from(["frazil", SERVE, &word]);
    match alone {
        Ok(_) => Ok(Some(word.into())),
        Err(error) => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            Err(line.strip_prefix("error: ").unwrap_or(line).to_owned())
        }
    }
}

/// An option of a file: its name, its place for a complaint, its value.
type Given = (String, String, String);

/// Reads a file of options.
fn read(path: &Path, options: &[&Arg]) -> Result<Vec<Given>, String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("the file of options \"{shown}\" cannot be read: {error}"))?;
    let table = DeTable::parse(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(&text, span.start));
        format!("\"{shown}\", line {line}: {}", error.message())
    })?;
    let mut given: Vec<Given> = Vec::new();
    for (key, value) in table.get_ref() {
        let place = format!("\"{shown}\", line {}", line_of(&text, key.span().start));
        let name = key.get_ref().replace('-', "_");
        if !options.iter().any(|option| option.get_id().as_str() == name) {
            let mut names: Vec<&str> = options.iter().map(|option| option.get_id().as_str()).collect();
            names.sort_unstable();
            let names = names.join(", ");
            return Err(format!(
                "{place}: there is no option \"{}\"; there are {names}",
                key.get_ref()
            ));
        }
        if given.iter().any(|(other, ..)| *other == name) {
            return Err(format!("{place}: the option \"{name}\" is given twice"));
        }
        let value = text_of(value.get_ref()).ok_or_else(|| {
            format!(
                "{place}: the value of \"{name}\" is to be a text, a number, true, false or a list of texts"
            )
        })?;
        given.push((name, place, value));
    }
    Ok(given)
}

/// The number of the line of a position, from 1.
fn line_of(text: &str, position: usize) -> usize {
    text.bytes().take(position).filter(|&byte| byte == b'\n').count() + 1
}

/// A value as it is typed; `None` for one that no option takes.
fn text_of(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.as_str().to_owned()),
        DeValue::Boolean(is_on) => Some(if *is_on { "on" } else { "off" }.to_owned()),
        DeValue::Array(values) => {
            let texts = values.iter().map(|value| value.get_ref().as_str());
            texts.collect::<Option<Vec<_>>>().map(|texts| texts.join(","))
        }
        DeValue::Float(_) | DeValue::Datetime(_) | DeValue::Table(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The options of a file that is called `name`, as no other test calls it.
    fn given(name: &str, text: &str) -> Result<Vec<String>, String> {
        let path = std::env::temp_dir().join(format!("frazil-options-{name}-{}.toml", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let mut command = Arguments::command();
        command.build();
        let options: Vec<&Arg> = command.find_subcommand(SERVE).unwrap().get_arguments().collect();
        let read = read(&path, &options);
        std::fs::remove_file(&path).unwrap();
        let words = read?.into_iter().map(|(name, place, value)| {
            let option = options
                .iter()
                .find(|option| option.get_id() == name.as_str())
                .unwrap();
            let word = word(option, &value).map_err(|message| format!("{place}: {message}"))?;
            Ok(word.map_or(String::new(), |word| word.into_string().unwrap()))
        });
        words.collect()
    }

    #[test]
    fn a_file_gives_options_as_they_are_typed() {
        let text = "# a comment\nlisten = \"0.0.0.0:5433\"\nmax-connections = 7\ntls_required = true\n\
                    readonly = false\nfile_access = [\"/a\", \"/b\"]\ndirectory = \"shop\"\n\
                    shutdown_timeout = '5s'\n";
        let mut words = given("typed", text).unwrap();
        words.sort();
        assert_eq!(
            words,
            [
                "",
                "--file-access=/a,/b",
                "--listen=0.0.0.0:5433",
                "--max-connections=7",
                "--shutdown-timeout=5s",
                "--tls-required",
                "shop"
            ]
        );
    }

    #[test]
    fn a_complaint_names_the_line() {
        for (text, expected) in [
            ("\n\nport = 1", "line 3: there is no option \"port\"; there are "),
            (
                "max_connections = 'x'",
                "line 1: invalid value 'x' for '--max-connections <N>'",
            ),
            (
                "\nreadonly = 'perhaps'",
                "line 2: \"perhaps\" is neither on nor off",
            ),
            ("listen = 1.5", "line 1: the value of \"listen\" is to be"),
            ("\n[tls]\ncert = 'x'", "line 2: there is no option \"tls\""),
            ("user = 'a'\nuser = 'b'", "line 2: "),
            ("user =", "line 1: "),
            (
                "login_timeout = '5'",
                "line 1: invalid value '5' for '--login-timeout <TIME>': a time is a number",
            ),
        ] {
            let message = given("complaint", text).unwrap_err();
            assert!(message.contains(expected), "{text}: {message}");
        }
    }

    #[test]
    fn every_option_is_documented() {
        let page = include_str!("../../../docs/server.md");
        let command = Arguments::command();
        for option in command.find_subcommand(SERVE).unwrap().get_arguments() {
            if let Some(name) = option.get_long().filter(|name| !TYPED[..2].contains(name)) {
                assert!(page.contains(&format!("`--{name}")), "--{name}");
            }
        }
    }
}
