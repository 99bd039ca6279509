//! Wheels to hand on: of the Python module, for Linux on x86-64 and aarch64, with the C library of 2014 or newer
//! (manylinux2014).
//!
//! Zig is the compiler of C and the linker, for it has the C library of every machine; pip brings it. The Rust
//! standard library of the machine has to be there: a build downloads no toolchain.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The machines, by the names that Python's wheels and Rust give them.
pub const MACHINES: [(&str, &str); 2] = [
    ("x86_64", "x86_64-unknown-linux-gnu"),
    ("aarch64", "aarch64-unknown-linux-gnu"),
];

/// What pip installs for it.
pub const TOOLS: [&str; 2] = ["maturin>=1.9.4,<2", "ziglang"];

/// The targets of machines that are asked for, all of them if none is. Errors name what there is.
pub fn targets(asked: &[String]) -> Result<Vec<&'static str>, String> {
    if asked.is_empty() {
        return Ok(MACHINES.map(|(_, target)| target).to_vec());
    }
    let target = |name: &String| {
        let known = MACHINES.iter().find(|(machine, _)| machine == name);
        known.map(|(_, target)| *target).ok_or_else(|| {
            let names = MACHINES.map(|(machine, _)| machine).join(" and ");
            format!("there is no wheel for {name}: there are {names}")
        })
    };
    asked.iter().map(target).collect()
}

/// Whether the compiler, which RUSTC names for us as for Cargo, has the standard library of a target. The error says
/// how rustup installs it.
pub fn check_library(target: &str) -> Result<(), String> {
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = Command::new(compiler)
        .args(["--print", "target-libdir", "--target", target])
        .output()
        .map_err(|e| format!("rustc did not start: {e}"))?;
    let directory = PathBuf::from(String::from_utf8_lossy(&said.stdout).trim());
    match said.status.success() && directory.is_dir() {
        true => Ok(()),
        false => Err(format!(
            "the standard library of {target} is not installed: rustup target add {target}"
        )),
    }
}

/// The command that builds the wheel of a target into a directory, with an interpreter that has [`TOOLS`]. They look
/// for each other where commands are looked for.
pub fn build(python: &Path, root: &Path, target: &str, to: &Path) -> Command {
    let home = python.parent().into_iter().map(Path::to_path_buf);
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(home.chain(env::split_paths(&path))).unwrap_or(path);
    let mut command = Command::new(python);
    command
        .env("PATH", path)
        .args([
            "-m",
            "maturin",
            "build",
            "--release",
            "--strip",
            "--locked",
            "--zig",
        ])
        .args(["--compatibility", "manylinux2014", "--target", target])
        .arg("--out")
        .arg(to)
        .current_dir(root);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_asked_for_by_name() {
        assert_eq!(targets(&[]), Ok(vec![MACHINES[0].1, MACHINES[1].1]));
        assert_eq!(targets(&["aarch64".to_owned()]), Ok(vec![MACHINES[1].1]));
        let error = targets(&["riscv64".to_owned()]).unwrap_err();
        assert!(error.contains("x86_64 and aarch64"), "{error}");
    }

    #[test]
    fn a_library_that_is_not_there_is_named_before_anything_is_built() {
        let error = check_library("mips-unknown-none").unwrap_err();
        assert!(error.contains("mips-unknown-none"), "{error}");
    }
}
