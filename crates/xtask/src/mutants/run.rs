//! Builds the tests of the tree that has all mutants, and runs each test without a fault and with each of its mutants.

use super::one_tree::{self, ASKED};
use super::{Death, Mutant, all};
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::env;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A test that lasts longer hangs, and longer than [`SLOWER`] times what it takes without a fault.
const PATIENCE: Duration = Duration::from_secs(60);
const SLOWER: u32 = 10;

/// The end of a test's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Passed,
    Failed,
    Hung,
}

/// Test programs by the folders of their crates and their names.
type Programs = HashMap<(String, String), PathBuf>;

/// Makes a copy of the tree in `target/mutants` with all mutants, builds the tests of those whose names contain
/// `wanted`, and runs them. Prints a table. An error names those that live.
pub fn run(root: &Path, target: &Path, profile: &str, wanted: &str) -> Result<(), String> {
    let copy = target.join("mutants");
    let chosen: Vec<(u32, &Mutant)> = all().filter(|(_, m)| m.name.contains(wanted)).collect();
    one_tree::write(root, &copy)?;
    let began = Instant::now();
    let programs = build(&copy, target, profile, &chosen)?;
    let built = began.elapsed();
    let mut sound = HashMap::new();
    let mut alive = Vec::new();
    for &(number, mutant) in &chosen {
        let tests = Tests {
            copy: &copy,
            programs: &programs,
        };
        let (without, time) = match sound.entry((mutant.program, mutant.test)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => *place.insert(tests.run(mutant, 0, PATIENCE * SLOWER)?),
        };
        let (verdict, time) = match without {
            End::Passed => {
                let (end, time) = tests.run(mutant, number, PATIENCE.max(time * SLOWER))?;
                (verdict(mutant.death, end), time)
            }
            End::Failed | End::Hung => ("ITS TEST FAILS WITHOUT IT", time),
        };
        println!(
            "{verdict:<7} {:7.2} s  {number:2} {} ({})",
            time.as_secs_f64(),
            mutant.name,
            mutant.test
        );
        if verdict != KILLED {
            alive.push(mutant.name);
        }
    }
    println!(
        "{} mutants, {} killed; built in {} s, all in {} s",
        chosen.len(),
        chosen.len() - alive.len(),
        built.as_secs(),
        began.elapsed().as_secs()
    );
    match alive.is_empty() {
        true => Ok(()),
        false => Err(format!("not killed: {}", alive.join(", "))),
    }
}

const KILLED: &str = "killed";

/// Judges a mutant by the end of its test.
fn verdict(death: Death, end: End) -> &'static str {
    match (death, end) {
        (Death::Fails, End::Failed) | (Death::Hangs, End::Hung | End::Failed) => KILLED,
        (Death::Fails, End::Hung) => "HANGS",
        (Death::Fails | Death::Hangs, End::Passed) => "ALIVE",
    }
}

/// Builds the test programs of mutants, all by one command.
fn build(copy: &Path, target: &Path, profile: &str, chosen: &[(u32, &Mutant)]) -> Result<Programs, String> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(["test", "--no-run", "--workspace", "--profile", profile])
        .args(["--message-format", "json-render-diagnostics"]);
    let programs: BTreeSet<String> = chosen.iter().map(|(_, mutant)| mutant.target()).collect();
    for program in programs {
        command.args(["--test", &program]);
    }
    let output = command
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", target)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("cargo: {e}"))?;
    match output.status.success() {
        true => Ok((String::from_utf8_lossy(&output.stdout).lines())
            .filter_map(program)
            .collect()),
        false => Err(format!(
            "the tree with all mutants was not built: {}",
            output.status
        )),
    }
}

/// Reads a test program out of a line in which cargo tells of something that it built.
fn program(line: &str) -> Option<((String, String), PathBuf)> {
    let field = |name: &str| {
        let (_, value) = line.split_once(&format!("\"{name}\":\""))?;
        value.split('"').next()
    };
    let program = PathBuf::from(field("executable")?);
    let folder = Path::new(field("manifest_path")?).parent()?.file_name()?;
    // The name ends with a hash.
    let (name, _) = program.file_stem()?.to_str()?.rsplit_once('-')?;
    Some(((folder.to_str()?.to_string(), name.to_string()), program.clone()))
}

/// The copy of the tree, and what was built of it.
struct Tests<'a> {
    copy: &'a Path,
    programs: &'a Programs,
}

impl Tests<'_> {
    /// Runs the test of a mutant while the mutant of a number is awake, 0 for none. Returns how it ended, and its
    /// time. The test's output is kept in a file with the number. An error if the program does not have the test.
    fn run(&self, mutant: &Mutant, number: u32, most: Duration) -> Result<(End, Duration), String> {
        let folder = mutant.tested_in();
        let key = (folder.to_string(), mutant.target());
        let program = (self.programs.get(&key))
            .ok_or_else(|| format!("{folder}: cargo built no program {}", mutant.target()))?;
        let outputs = self.copy.join("outputs");
        let output = outputs.join(number.to_string());
        let failed = |e: io::Error| format!("{}: {e}", program.display());
        fs::create_dir_all(&outputs).map_err(failed)?;
        let to = File::create(&output).map_err(failed)?;
        let package = self.copy.join("crates").join(folder);
        let mut child = Command::new(program)
            .args(["--exact", mutant.test])
            .current_dir(&package)
            .env("CARGO_MANIFEST_DIR", &package)
            .env(ASKED, number.to_string())
            .stdin(Stdio::null())
            .stderr(to.try_clone().map_err(failed)?)
            .stdout(to)
            // The test may start processes, which end with it.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let began = Instant::now();
        let end = wait(&mut child, began + most).map_err(failed)?;
        let said = fs::read_to_string(&output).unwrap_or_default();
        match said.contains("running 1 test") {
            true => Ok((end, began.elapsed())),
            false => Err(format!(
                "{} has no test {}: {said}",
                program.display(),
                mutant.test
            )),
        }
    }
}

/// Waits until a program ends. One that has not ended in time is killed, with the processes that it started.
fn wait(child: &mut Child, until: Instant) -> io::Result<End> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(match status.success() {
                true => End::Passed,
                false => End::Failed,
            });
        }
        if Instant::now() > until {
            let group = format!("-{}", child.id());
            let _ = Command::new("kill").args(["-9", "--", &group]).status();
            child.kill()?;
            child.wait()?;
            return Ok(End::Hung);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_read_from_what_cargo_says() {
        let line = concat!(
            r#"{"reason":"compiler-artifact","manifest_path":"/t/crates/locks/Cargo.toml","#,
            r#""target":{"kind":["test"],"name":"rings"},"executable":"/t/target/debug/deps/rings-0a1b"}"#
        );
        let found = |line: &str| program(line).map(|((folder, name), _)| format!("{folder} {name}"));
        assert_eq!(found(line).unwrap(), "locks rings");
        let none = line.replace("\"/t/target/debug/deps/rings-0a1b\"", "null");
        assert_eq!(found(&none), None);
    }

    #[test]
    fn a_hang_kills_only_a_mutant_that_says_so() {
        assert_eq!(verdict(Death::Fails, End::Failed), KILLED);
        assert_ne!(verdict(Death::Fails, End::Hung), KILLED);
        assert_eq!(verdict(Death::Hangs, End::Hung), KILLED);
        for death in [Death::Fails, Death::Hangs] {
            assert_ne!(verdict(death, End::Passed), KILLED);
        }
    }

    #[test]
    fn a_program_that_does_not_end_is_killed() {
        let run = |command: &str, most: Duration| {
            let mut shell = Command::new("sh");
            shell.args(["-c", command]).process_group(0);
            let mut child = shell.spawn().unwrap();
            wait(&mut child, Instant::now() + most).unwrap()
        };
        let long = Duration::from_secs(20);
        assert_eq!(run("exit 0", long), End::Passed);
        assert_eq!(run("exit 3", long), End::Failed);
        assert_eq!(run("sleep 60; exit 0", Duration::from_millis(50)), End::Hung);
    }
}
