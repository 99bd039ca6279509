//! Repository chores: `cargo xtask test` runs every test there is, `cargo xtask tidy` checks the rules that
//! ARCHITECTURE.md lists, `cargo xtask house` prints what an addition costs, `cargo xtask inlined` that vector
//! intrinsics have become instructions of the program, `cargo xtask mutants` that tests notice faults of one
//! line, `cargo xtask wheel` builds and installs the Python module into a virtual environment below `target`,
//! `cargo xtask wheels` makes wheels of it for Linux, `cargo xtask clients` installs PostgreSQL's clients below
//! `target` and tries each with the server, and `cargo xtask judge --statements 100000` runs generated
//! statements on Frazil and a judge (`python/judge`).
#![forbid(unsafe_code)]

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let root = xtask::root();
    let task = env::args().nth(1);
    let done = match task.as_deref() {
        Some("test") => test(&root),
        Some("lint") => lint(&root),
        Some("wheel") => wheel(&root).map(|_| ()),
        Some("wheels") => wheels(&root),
        Some("pytest") => wheel(&root).and_then(|python| pytest(&root, &python)),
        Some("clients") => wheel(&root).and_then(|python| clients(&root, &python)),
        Some("judge") => wheel(&root).and_then(|python| judge(&root, &python)),
        Some("tidy") => tidy(&root),
        Some("house") => house(&root),
        Some("inlined") => inlined(&root),
        Some("mutants") => mutants(&root),
        _ => Err(
            "usage: cargo xtask test | lint | tidy | house | inlined | mutants | wheel | wheels | pytest | clients | \
             judge"
                .to_string(),
        ),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The profile of all that the tests build: release code with our debug assertions and overflow checks.
const PROFILE: &str = "checked";

/// Everything, in the order in which a failure is cheapest to learn of.
fn test(root: &Path) -> Result<(), String> {
    tidy(root)?;
    formatted(root)?;
    run(cargo(root).args(["test", "--profile", PROFILE, "--workspace", "--locked"]))?;
    inlined(root)?;
    let python = wheel(root)?;
    pytest(root, &python)
}

/// Checks the tree; `--show` prints what the ratchets count, `--lower` writes those numbers that have become less.
fn tidy(root: &Path) -> Result<(), String> {
    let asked = env::args().nth(2).unwrap_or_default();
    if ["--show", "--lower"].contains(&asked.as_str()) {
        let found = xtask::tidy::look(root).map_err(|e| format!("tidy: {e}"))?;
        print!("{}", found.ratchets.shown());
        if asked == "--lower" {
            found
                .ratchets
                .lower(root)
                .map_err(|e| format!("ratchets.txt: {e}"))?;
        }
    }
    let violations = xtask::tidy::check(root).map_err(|e| format!("tidy: {e}"))?;
    if violations.is_empty() {
        return Ok(());
    }
    Err(format!(
        "tidy: {} violations\n{}",
        violations.len(),
        violations.join("\n")
    ))
}

/// Prints in how many files each operator is named.
fn house(root: &Path) -> Result<(), String> {
    for house in [
        xtask::house::OPERATORS,
        xtask::house::BREAKERS,
        xtask::house::AGGREGATES,
        xtask::house::TYPES,
    ] {
        let named = xtask::house::named(&house, root).map_err(|e| format!("house: {e}"))?;
        print!("{}", xtask::house::shown(&house, &named));
    }
    Ok(())
}

/// Formatting, where the toolchain has rustfmt.
fn formatted(root: &Path) -> Result<(), String> {
    if has(&["fmt", "--version"]) {
        return run(cargo(root).args(["fmt", "--all", "--check"]));
    }
    eprintln!("rustfmt is not installed: formatting was not checked");
    Ok(())
}

/// Vector intrinsics that dependencies call as functions.
const CALLED_ELSEWHERE: [&str; 1] = ["_mm256_loadu_si256"];

/// That our vector intrinsics are instructions. In a closure, or a function that lacks the instruction set, each is a
/// call of a function, and a kernel 25 times as slow or worse, with nothing but benchmarks to tell.
fn inlined(root: &Path) -> Result<(), String> {
    let program = xtask::target_dir(root).join(PROFILE).join("frazil");
    let Ok(listed) = Command::new("nm").arg("-C").arg(&program).output() else {
        eprintln!("nm is not installed: whether vector intrinsics are inlined was not checked");
        return Ok(());
    };
    let listed = String::from_utf8_lossy(&listed.stdout);
    if !listed.contains("frazil_kernels::") {
        return Err(format!("nm finds no kernels in {}", program.display()));
    }
    let intrinsic = |line: &str| {
        let (path, name) = line.rsplit_once("::")?;
        (path.contains("core_arch::") && name.starts_with("_mm")).then(|| name.to_owned())
    };
    let called = listed.lines().filter_map(intrinsic);
    let ours: Vec<String> = called
        .filter(|name| !CALLED_ELSEWHERE.contains(&name.as_str()))
        .collect();
    if ours.is_empty() {
        return Ok(());
    }
    Err(format!(
        "called as functions, not inlined, in {}: {}; look for the closures that use them",
        program.display(),
        ours.join(", ")
    ))
}

/// Mutants whose name contains the first argument, or all; the second one is the profile that their tests are built in.
fn mutants(root: &Path) -> Result<(), String> {
    let wanted = env::args().nth(2).unwrap_or_default();
    let profile = env::args().nth(3).unwrap_or_else(|| PROFILE.to_string());
    xtask::mutants::run(root, &xtask::target_dir(root), &profile, &wanted)
}

/// Formatting and clippy. Not part of `test`: clippy checks every dependency once more.
fn lint(root: &Path) -> Result<(), String> {
    formatted(root)?;
    run(cargo(root).args([
        "clippy",
        "--profile",
        PROFILE,
        "--workspace",
        "--all-targets",
        "--locked",
        "--",
        "-D",
        "warnings",
    ]))
}

/// Builds the Python module with the workspace's target directory and installs it; gives the
/// interpreter that has it.
fn wheel(root: &Path) -> Result<PathBuf, String> {
    let home = xtask::target_dir(root).join("python");
    let python = home.join("bin/python");
    if !python.exists() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
    }
    let requirements = root.join("python/requirements-test.txt");
    // The build backend looks for its program where commands are looked for.
    let mut path = vec![home.join("bin")];
    path.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    let path = env::join_paths(path).map_err(|e| e.to_string())?;
    let pip = || {
        let mut command = Command::new(&python);
        command.env("PATH", &path);
        command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        command
    };
    run(pip().arg("-r").arg(&requirements))?;
    run(pip()
        .args(["--no-build-isolation", "--force-reinstall", "--no-deps"])
        .args(["--config-settings", &format!("build-args=--profile {PROFILE}")])
        .arg(root)
        .current_dir(root))?;
    Ok(python)
}

/// Builds wheels for the machines that the arguments name, or for all; none if one cannot be built.
fn wheels(root: &Path) -> Result<(), String> {
    let asked: Vec<String> = env::args().skip(2).collect();
    let targets = xtask::wheels::targets(&asked)?;
    for target in &targets {
        xtask::wheels::check_library(target)?;
    }
    let home = xtask::target_dir(root).join("wheels-python");
    let python = home.join("bin/python");
    if !python.exists() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
    }
    run(Command::new(&python)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(xtask::wheels::TOOLS))?;
    let to = xtask::target_dir(root).join("wheels");
    for target in targets {
        run(&mut xtask::wheels::build(&python, root, target, &to))?;
    }
    eprintln!("the wheels are in {}", to.display());
    Ok(())
}

fn pytest(root: &Path, python: &Path) -> Result<(), String> {
    pytest_of(root, python, &["python/tests"])
}

fn pytest_of(root: &Path, python: &Path, tests: &[&str]) -> Result<(), String> {
    // The server that PostgreSQL's clients are tried with, and the clients that `clients` installed.
    let target = xtask::target_dir(root);
    run(Command::new(python)
        // The last lines name what failed, and what was skipped.
        .args(["-m", "pytest", "-q", "-rsfE"])
        .args(tests)
        .env("FRAZIL_PROGRAM", target.join(PROFILE).join("frazil"))
        .env("FRAZIL_CLIENTS", target.join("clients"))
        .current_dir(root))
}

/// Installs PostgreSQL's clients and tries each with the server.
fn clients(root: &Path, python: &Path) -> Result<(), String> {
    // The program as `test` builds it: the same features, hence no second build of the workspace.
    run(cargo(root).args([
        "test",
        "--profile",
        PROFILE,
        "--workspace",
        "--locked",
        "--no-run",
        "--test",
        "serve",
    ]))?;
    for missing in xtask::clients::install(root, &xtask::target_dir(root).join("clients"), python)? {
        eprintln!("not installed: {missing}");
    }
    pytest_of(
        root,
        python,
        &[
            "python/tests/test_clients.py",
            "python/tests/test_client_programs.py",
        ],
    )
}

/// A campaign of generated statements; the arguments behind `judge` are its own.
fn judge(root: &Path, python: &Path) -> Result<(), String> {
    run(Command::new(python)
        .args(["-m", "judge"])
        .args(env::args().skip(2))
        .current_dir(root.join("python")))
}

fn cargo(root: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

fn has(arguments: &[&str]) -> bool {
    Command::new("cargo")
        .args(arguments)
        .output()
        .is_ok_and(|o| o.status.success())
}

fn run(command: &mut Command) -> Result<(), String> {
    eprintln!("+ {command:?}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?} failed: {status}")),
        Err(e) => Err(format!("{command:?} did not start: {e}")),
    }
}
