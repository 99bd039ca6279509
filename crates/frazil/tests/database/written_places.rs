//! What COPY TO writes: what the path leads to, as it is. Links stay links, devices and pipes stay what they are, a file keeps its
//! permissions, and what a killed process left behind goes with the next COPY to its place.

use crate::{directory, memory, rows, state};
use frazil::SqlState;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PLACE: &str = "FRAZIL_TEST_WRITTEN_PLACE";

fn made(name: &str) -> PathBuf {
    let path = directory(name);
    std::fs::create_dir_all(&path).expect("it is made");
    path
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn names(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).expect("it is listed");
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        let name = entry.expect("it is listed").file_name();
        name.to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_symlink())
}

#[test]
fn a_link_stays_and_what_it_leads_to_is_written() {
    let base = made("links");
    let c = memory();
    let at = |name: &str| base.join(name);
    let copy = |name: &str| rows(&c, &format!("copy (select 1) to '{}'", at(name).display()));
    std::fs::create_dir(at("in")).expect("it is made");
    std::fs::write(at("in/old.csv"), "old").expect("it is written");
    symlink("in/old.csv", at("relative.csv")).expect("it is linked");
    symlink(at("in/old.csv"), at("absolute.csv")).expect("it is linked");
    symlink("absolute.csv", at("chain.csv")).expect("it is linked");
    symlink("in/new.csv", at("dangling.csv")).expect("it is linked");
    symlink("in", at("folder")).expect("it is linked");
    symlink("loop.csv", at("loop.csv")).expect("it is linked");
    for link in ["relative.csv", "absolute.csv", "chain.csv"] {
        std::fs::write(at("in/old.csv"), "old").expect("it is written");
        copy(link);
        assert!(is_link(&at(link)), "{link}");
        assert_eq!(read(&at("in/old.csv")), "1\n", "{link}");
    }
    copy("dangling.csv");
    assert!(is_link(&at("dangling.csv")));
    assert_eq!(read(&at("in/new.csv")), "1\n");
    copy("folder/third.csv");
    assert_eq!(names(&at("in")), ["new.csv", "old.csv", "third.csv"]);
    for (name, expected) in [("loop.csv", SqlState::IO_ERROR), ("folder", SqlState::IO_ERROR)] {
        let sql = format!("copy (select 1) to '{}'", at(name).display());
        assert_eq!(state(&c, &sql), expected, "{name}");
        assert!(is_link(&at(name)), "{name}");
    }
    let parts = format!(
        "copy (select 1 a, 2 b) to '{}' (format parquet, partition_by (a), overwrite_or_ignore)",
        at("folder").display()
    );
    rows(&c, &parts);
    assert!(is_link(&at("folder")));
    assert_eq!(names(&at("in/a=1")), ["data_0.parquet"]);
    let _ = std::fs::remove_dir_all(&base);
}

#[test]
fn a_file_keeps_its_permissions() {
    let base = made("permissions");
    let c = memory();
    let file = base.join("x.csv");
    let copy = format!("copy (select 1) to '{}'", file.display());
    for mode in [0o600, 0o640, 0o664, 0o755] {
        std::fs::write(&file, "old").expect("it is written");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("it is set");
        rows(&c, &copy);
        let found = file.metadata().expect("it is there");
        assert_eq!(found.mode() & 0o7777, mode);
        assert_eq!(read(&file), "1\n");
    }
    // A statement that fails leaves the file as it was, and nothing else.
    std::fs::write(&file, "old").expect("it is written");
    let failing = format!(
        "copy (select 1 / (3 - x) from generate_series(1, 5) g(x)) to '{}'",
        file.display()
    );
    assert_eq!(state(&c, &failing), SqlState::DIVISION_BY_ZERO);
    assert_eq!(
        (read(&file), names(&base)),
        ("old".to_owned(), vec!["x.csv".to_owned()])
    );
    let _ = std::fs::remove_dir_all(&base);
}

/// This test program, running another of its tests on a place.
fn process(test: &str, place: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("it runs"));
    command.args([
        &format!("written_places::{test}"),
        "--exact",
        "--ignored",
        "--nocapture",
    ]);
    command.env(PLACE, place);
    command
}

/// The lines between the marks of a process.
fn between_marks(text: &str) -> &str {
    let begun = text
        .split("<<<\n")
        .nth(1)
        .unwrap_or_else(|| panic!("a mark in {text}"));
    begun.split(">>>\n").next().unwrap_or_default()
}

#[test]
#[ignore = "run by devices_and_pipes_are_written_as_they_are in a process of its own"]
fn process_that_copies() {
    let Some(place) = std::env::var_os(PLACE).map(PathBuf::from) else {
        return;
    };
    println!("\n<<<");
    rows(
        &memory(),
        &format!(
            "copy (select x from generate_series(1, 3) g(x)) to '{}'",
            place.display()
        ),
    );
    println!(">>>");
}

#[test]
fn devices_and_pipes_are_written_as_they_are() {
    let base = made("devices");
    let before = Path::new("/dev/stdout").symlink_metadata().map(|m| m.ino()).ok();
    symlink("/dev/stdout", base.join("link")).expect("it is linked");
    let link = base.join("link");
    for place in [
        "/dev/stdout",
        "/dev/fd/1",
        "/proc/self/fd/1",
        link.to_str().expect("it is a text"),
    ] {
        // A pipe.
        let output = process("process_that_copies", Path::new(place))
            .output()
            .expect("it starts");
        assert_eq!(
            between_marks(&String::from_utf8_lossy(&output.stdout)),
            "1\n2\n3\n",
            "{place}"
        );
        // A file, which is neither replaced nor overwritten.
        let to = base.join("out.txt");
        let file = std::fs::File::create(&to).expect("it is made");
        let number = file.metadata().expect("it is there").ino();
        let mut command = process("process_that_copies", Path::new(place));
        assert!(
            command.stdout(file).status().expect("it starts").success(),
            "{place}"
        );
        assert_eq!(between_marks(&read(&to)), "1\n2\n3\n", "{place}");
        assert_eq!(to.metadata().expect("it is there").ino(), number, "{place}");
    }
    let output = process("process_that_copies", Path::new("/dev/stderr"))
        .output()
        .expect("it starts");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "1\n2\n3\n");
    let after = Path::new("/dev/stdout").symlink_metadata().map(|m| m.ino()).ok();
    assert_eq!(before, after);
    rows(&memory(), "copy (select 1) to '/dev/null'");
    assert!(!Path::new("/dev/null").metadata().expect("it is there").is_file());
    // A pipe with a name.
    let pipe = base.join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .expect("it starts")
            .success()
    );
    let reader = Command::new("cat")
        .arg(&pipe)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    rows(&memory(), &format!("copy (select 7) to '{}'", pipe.display()));
    let said = reader.wait_with_output().expect("it ends").stdout;
    assert_eq!(String::from_utf8_lossy(&said), "7\n");
    assert!(!pipe.metadata().expect("it is there").is_file());
    let _ = std::fs::remove_dir_all(&base);
}

#[test]
#[ignore = "run by what_a_killed_copy_left_goes_with_the_next in a process of its own"]
fn process_that_never_ends() {
    let Some(place) = std::env::var_os(PLACE).map(PathBuf::from) else {
        return;
    };
    let options = match place.extension() {
        Some(_) => "",
        None => "(format csv, partition_by (a))",
    };
    let query = "select x % 3 a, repeat('x', 100) b from generate_series(1, 1000000000) g(x)";
    rows(
        &memory(),
        &format!("copy ({query}) to '{}' {options}", place.display()),
    );
}

#[test]
fn what_a_killed_copy_left_goes_with_the_next() {
    let base = made("left");
    let folder = base.join("folder");
    for (place, options) in [
        (base.join("x.csv"), ""),
        (folder, "(format csv, partition_by (a))"),
    ] {
        let above = if options.is_empty() { &base } else { &place };
        let is_begun = || above.is_dir() && names(above).iter().any(|name| name.ends_with(".part"));
        let begun = Instant::now();
        let mut child = process("process_that_never_ends", &place)
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        while !is_begun() {
            assert!(begun.elapsed() < Duration::from_secs(60), "it begins");
            std::thread::sleep(Duration::from_millis(5));
        }
        let copy = format!("copy (select 1 a, 2 b) to '{}' {options}", place.display());
        let c = memory();
        if options.is_empty() {
            rows(&c, &copy);
            assert!(is_begun(), "its writer lives");
        }
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        assert!(is_begun(), "it was killed");
        rows(&c, &copy);
        let expected = if options.is_empty() { "x.csv" } else { "a=1" };
        assert_eq!(names(above), [expected]);
    }
    let _ = std::fs::remove_dir_all(&base);
}
