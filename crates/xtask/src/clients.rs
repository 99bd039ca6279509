//! PostgreSQL's clients that neither pip nor a package of the system brings: those of npm, Maven, Go and Cargo, and
//! DuckDB's extension, for `python/tests/test_client_programs.py`. A client whose tool this machine lacks is named and
//! left out.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages of npm.
const NPM: [&str; 4] = ["pg@8", "pg-cursor@2", "pg-copy-streams@7", "postgres@3"];

/// The version of pgjdbc.
const PGJDBC: &str = "42.7.4";

/// The folder of the scripts below the repository's root.
const SCRIPTS: &str = "python/tests/clients";

/// A client to install: its tool, and the tool's arguments.
struct Client {
    name: &'static str,
    tool: String,
    arguments: Vec<String>,
    /// The folder that the tool runs in.
    folder: PathBuf,
}

/// All clients, installed below `to`. `python`: the interpreter that has DuckDB, which downloads its extension.
fn clients(root: &Path, to: &Path, python: &Path) -> Vec<Client> {
    let texts = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect::<Vec<_>>();
    let there = to.display().to_string();
    let scripts = root.join(SCRIPTS);
    let npm = texts(&[
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "--prefix",
        &there,
    ]);
    vec![
        Client {
            name: "node-postgres and postgres.js",
            tool: "npm".to_string(),
            arguments: [npm, texts(&NPM)].concat(),
            folder: root.to_path_buf(),
        },
        Client {
            name: "pgx",
            tool: "go".to_string(),
            arguments: texts(&["build", "-o", &format!("{there}/pgx"), "."]),
            folder: scripts.join("pgx"),
        },
        Client {
            name: "pgjdbc",
            tool: "mvn".to_string(),
            arguments: texts(&[
                "-q",
                "dependency:copy",
                &format!("-Dartifact=org.postgresql:postgresql:{PGJDBC}"),
                &format!("-DoutputDirectory={there}"),
                "-Dmdep.stripVersion=true",
            ]),
            folder: root.to_path_buf(),
        },
        Client {
            name: "tokio-postgres",
            tool: "cargo".to_string(),
            arguments: texts(&["install", "--quiet", "--debug", "--path", ".", "--root", &there]),
            folder: scripts.join("tokio_postgres"),
        },
        Client {
            name: "DuckDB's scanner",
            tool: python.display().to_string(),
            arguments: texts(&["-c", "import duckdb; duckdb.execute('install postgres')"]),
            folder: root.to_path_buf(),
        },
    ]
}

/// Installs the clients below `to`. Returns the name of each that is not installed, with the reason.
pub fn install(root: &Path, to: &Path, python: &Path) -> Result<Vec<String>, String> {
    std::fs::create_dir_all(to).map_err(|error| format!("{}: {error}", to.display()))?;
    let installed = |client: Client| {
        let mut command = Command::new(&client.tool);
        command.args(&client.arguments).current_dir(&client.folder);
        match command.status() {
            Ok(status) if status.success() => None,
            Ok(status) => Some(format!("{}: {} failed: {status}", client.name, client.tool)),
            Err(error) => Some(format!("{}: {} did not start: {error}", client.name, client.tool)),
        }
    };
    Ok(clients(root, to, python)
        .into_iter()
        .filter_map(installed)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_has_its_script() {
        let root = crate::root();
        for client in clients(&root, Path::new("there"), Path::new("python")) {
            assert!(
                client.folder.is_dir(),
                "{}: {}",
                client.name,
                client.folder.display()
            );
        }
        for script in [
            "node_postgres.js",
            "postgres_js.js",
            "Pgjdbc.java",
            "PgjdbcValues.java",
        ] {
            assert!(root.join(SCRIPTS).join(script).is_file(), "{script}");
        }
    }
}
