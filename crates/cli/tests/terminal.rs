//! The shell as a person meets it: in a terminal, which `script` of util-linux makes.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// A shell in a terminal of 24 lines of 80 columns.
struct Terminal {
    child: Child,
    keys: std::fs::File,
    seen: Arc<Mutex<Vec<u8>>>,
    /// Bytes of `seen` that were waited for.
    read: usize,
    home: PathBuf,
    /// How long something is waited for.
    patience: Duration,
}

impl Terminal {
    fn open(name: &str, settings: &[(&str, &str)]) -> Terminal {
        Terminal::open_with(name, settings, "", &[])
    }

    /// As [`Terminal::open`], with arguments for the shell, in a directory that has files.
    fn open_with(name: &str, settings: &[(&str, &str)], arguments: &str, files: &[(&str, &str)]) -> Terminal {
        let home = std::env::temp_dir().join(format!("frazil-terminal-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&home).expect("it is made");
        std::fs::write(
            home.join(".frazilrc"),
            "\\set who 'the file'\ncreate table lines (price integer);\n",
        )
        .expect("it is written");
        for (file, text) in files {
            std::fs::write(home.join(file), text).expect("it is written");
        }
        let program = format!(
            "stty rows 24 cols 80; exec {} {arguments}",
            env!("CARGO_BIN_EXE_frazil")
        );
        let mut child = Command::new("script")
            .args(["-q", "-f", "-e", "-c", &program, "/dev/null"])
            .env("HOME", &home)
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            .env_remove("FRAZIL_HISTORY")
            .envs(settings.iter().copied())
            .current_dir(&home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("script of util-linux starts");
        let keys = child.stdin.take().expect("it is piped");
        let keys = std::fs::File::from(std::os::fd::OwnedFd::from(keys));
        let mut screen = child.stdout.take().expect("it is piped");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let shown = seen.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                shown
                    .lock()
                    .expect("it is not poisoned")
                    .extend_from_slice(&bytes[..count]);
            }
        });
        let mut terminal = Terminal {
            child,
            keys,
            seen,
            read: 0,
            home,
            patience: PATIENCE,
        };
        terminal.expect("frazil> ");
        terminal
    }

    fn keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("it reads");
        self.keys.flush().expect("it reads");
    }

    /// Waits until the terminal shows `text` behind what was waited for before; returns what came before it.
    fn expect(&mut self, text: &str) -> String {
        let begun = Instant::now();
        loop {
            let seen = self.seen.lock().expect("it is not poisoned");
            let shown = String::from_utf8_lossy(&seen[self.read..]).into_owned();
            drop(seen);
            if let Some(at) = shown.find(text) {
                self.read += at + text.len();
                return shown[..at].to_owned();
            }
            assert!(begun.elapsed() < self.patience, "no {text:?} in {shown:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Types a line and waits for what it shows.
    fn line(&mut self, line: &str, shown: &str) {
        self.keys(&format!("{line}\r"));
        self.expect(shown);
        self.expect("frazil> ");
    }

    fn leave(mut self) {
        self.keys("\\q\r");
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "{status}");
        let history = std::fs::read_to_string(self.home.join(".frazil_history"));
        assert!(history.is_ok_and(|h| h.contains("select")));
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

#[test]
fn lines_are_completed_remembered_and_searched() {
    let mut terminal = Terminal::open("lines", &[]);
    terminal.line("select :'who' as who;", "│ the file │");
    terminal.keys("insert into lin\t values (41), (42);\r");
    terminal.expect("INSERT 2");
    terminal.expect("frazil> ");
    terminal.keys("select sum(l.price) from lines l where l.pri\t > 0;\r");
    terminal.expect("83");
    terminal.expect("frazil> ");
    // A statement of several lines comes back as one.
    terminal.keys("select price + 1 as more\r");
    terminal.expect("   ...> ");
    terminal.keys("from lines where price = 41;\r");
    terminal.expect("│   42 │");
    terminal.expect("frazil> ");
    terminal.keys("\x1b[A\r");
    terminal.expect("│   42 │");
    terminal.expect("frazil> ");
    // Ctrl-R finds an earlier one.
    terminal.keys("\x12sum(\r");
    terminal.expect("83");
    terminal.expect("frazil> ");
    terminal.keys("selec x;\r");
    terminal.expect("ERROR 42601");
    terminal.expect("LINE 1: selec x;");
    terminal.expect("^");
    terminal.expect("frazil> ");
    // Ctrl-C drops what was typed.
    terminal.keys("select (\r");
    terminal.expect("   ..(> ");
    terminal.keys("\x03");
    terminal.expect("frazil> ");
    terminal.leave();
}

#[test]
fn queries_and_watches_end_with_ctrl_c() {
    let mut terminal = Terminal::open("interrupt", &[]);
    terminal.line(
        "insert into lines values (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);",
        "INSERT 10",
    );
    terminal.line(
        "insert into lines select a.price from lines a, lines b, lines c, lines d;",
        "INSERT 10000",
    );
    terminal.keys("select count(*) from lines a, lines b, lines c where a.price + b.price + c.price = -1;\r");
    std::thread::sleep(Duration::from_millis(700));
    terminal.keys("\x03");
    terminal.expect("ERROR 57014");
    terminal.expect("frazil> ");
    terminal.keys("select 'again' as a \\watch 0.1\r");
    terminal.expect("│ again │");
    terminal.expect("│ again │");
    terminal.keys("\x03");
    terminal.expect("frazil> ");
    terminal.line("select 1 as a \\watch 0.01 c=2", "│ 1 │");
    terminal.leave();
}

#[test]
fn long_results_are_paged_and_statements_edited() {
    let editor = "sh -c 'echo \"select 6 * 7 as edited;\" > $0'";
    let mut terminal = Terminal::open(
        "pager",
        &[("FRAZIL_PAGER", "sed s/^/PAGED:/"), ("EDITOR", editor)],
    );
    terminal.line("select 1 as short;", "\n│     1 │");
    terminal.keys("\\df *a*\r");
    terminal.expect("PAGED:┌");
    terminal.expect("frazil> ");
    terminal.keys("\\pset pager off\r");
    terminal.expect("frazil> ");
    terminal.keys("\\df *a*\r");
    terminal.expect("\n┌");
    terminal.expect("frazil> ");
    terminal.keys("select 1\r");
    terminal.expect("   ...> ");
    terminal.keys("\\e\r");
    terminal.expect("│     42 │");
    terminal.expect("frazil> ");
    // Rows wider than the terminal are shown a line a value.
    terminal.line("\\x auto", "");
    terminal.line("select repeat('x', 100) as wide, 1 as b;", "[ RECORD 1 ]");
    terminal.line("select 1 as narrow;", "narrow");
    terminal.leave();
}

#[test]
fn a_window_that_is_resized_is_heard() {
    let mut terminal = Terminal::open("resizing", &[]);
    terminal.line("\\x auto", "");
    let wide = "select repeat('x', 100) as wide, 1 as b;";
    terminal.line(wide, "[ RECORD 1 ]");
    terminal.line("\\! stty cols 160", "");
    terminal.line(wide, &format!("│ {} │ 1 │", "x".repeat(100)));
    // While a statement is typed: what stands there stays.
    terminal.line("\\! (sleep 0.5; stty cols 60) </dev/tty >/dev/null 2>&1 &", "");
    terminal.keys("select repeat('y', 70) as more,");
    std::thread::sleep(Duration::from_millis(1500));
    terminal.keys(" 2 as b;\r");
    terminal.expect("[ RECORD 1 ]");
    terminal.expect(&"y".repeat(70));
    terminal.expect("frazil> ");
    terminal.leave();
}

#[test]
fn a_file_opens_a_shell_in_which_it_is_a_table() {
    let rows = "city;fare\nOslo;12.5\nBergen;8\n";
    let mut terminal = Terminal::open_with("file", &[], "Trips.2026.csv", &[("Trips.2026.csv", rows)]);
    let seen = terminal.seen.lock().expect("it is not poisoned").clone();
    let seen = String::from_utf8_lossy(&seen).into_owned();
    assert!(seen.contains("Trips.2026.csv is the table trips."), "{seen}");
    terminal.keys("select sum(fare) from tri\t;\r");
    terminal.expect("20.5");
    terminal.expect("frazil> ");
    terminal.keys("\\d+ tr\t\r");
    terminal.expect("Table \"public.trips\"");
    terminal.expect("double precision");
    terminal.expect("frazil> ");
    terminal.keys("\\q\r");
    assert!(terminal.child.wait().expect("it ends").success());
}

/// Sends lines at once, as a paste or hasty fingers do: each runs, in order.
fn all_lines_run_in_order(name: &str, count: usize) {
    let mut terminal = Terminal::open(name, &[]);
    let mut lines = String::from("create table typed (n integer);\r");
    for n in 0..count {
        lines.push_str(&format!("insert into typed values ({n});\r"));
    }
    lines.push_str(
        "select 'all=' || count(*) || ' off=' || sum(abs(d - 1)) || '.' as selected \
         from (select n - lag(n, 1, -1) over () as d from typed) q;\r",
    );
    let mut keys = terminal.keys.try_clone().expect("there is another");
    let typing = std::thread::spawn(move || keys.write_all(lines.as_bytes()));
    terminal.patience = PATIENCE * 10;
    terminal.expect(&format!("all={count} off=0."));
    typing.join().expect("it types").expect("it reads");
    terminal.expect("frazil> ");
    terminal.leave();
}

#[test]
fn a_thousand_lines_sent_at_once_run_in_order() {
    all_lines_run_in_order("thousand", 1_000);
}

#[test]
fn ten_thousand_lines_sent_at_once_run_in_order() {
    all_lines_run_in_order("ten-thousand", 10_000);
}

#[test]
fn a_paste_is_lines() {
    let mut terminal = Terminal::open("paste", &[]);
    let copy = "create table pasted (a integer);\n\\set more 5\ncopy pasted from stdin (format csv);\n1\n2\n\\.\ninsert into pasted values (:more);";
    terminal.keys(&format!(
        "\x1b[200~{copy}\nselect 'sum=' || sum(a) as s from pasted;\x1b[201~\r"
    ));
    terminal.expect("sum=8");
    terminal.expect("frazil> ");
    terminal.line("select 1 as last;", "last");
    terminal.leave();
}

#[test]
fn the_prompt_tells_what_is_open() {
    let mut terminal = Terminal::open("prompts", &[]);
    let mut step = |keys: &str, prompt: &str| {
        terminal.keys(&format!("{keys}\r"));
        terminal.expect(prompt);
    };
    step("select 'a", "   ..'> ");
    step("b' || $x$ (", "   ..$> ");
    step("$x$ as \"n", "   ..\"> ");
    step("m\", (1 /* ", "   ..*> ");
    step("*/ + 1", "   ..(> ");
    step("), 2", "   ...> ");
    step(";", "frazil> ");
    step("begin;", "frazil*> ");
    step("select 1/0;", "frazil!> ");
    step("rollback;", "frazil> ");
    step("\\if false", "frazil@> ");
    step("\\endif", "frazil> ");
    terminal.leave();
}

#[test]
fn another_database_is_opened_and_a_slip_leaves_nothing() {
    let mut terminal = Terminal::open_with("open", &[], "kept", &[]);
    let home = terminal.home.clone();
    terminal.line("create table selected (a integer);", "CREATE TABLE");
    terminal.line(".open slipt", "slipt is a new database");
    assert!(home.join("slipt").is_dir());
    terminal.line("select count(*) as none from selected;", "42P01");
    terminal.line("\\c kept", "");
    terminal.line("select count(*) as some from selected;", "some");
    assert!(!home.join("slipt").exists());
    terminal.line("\\cd /", "");
    terminal.line("insert into selected values (1); checkpoint;", "CHECKPOINT");
    terminal.keys("begin;\r");
    terminal.expect("frazil*> ");
    terminal.keys(".open\r");
    terminal.expect("25001");
    terminal.expect("frazil*> ");
    terminal.line("commit;", "COMMIT");
    terminal.line(".open", "");
    terminal.line("\\conninfo", "in memory");
    terminal.keys("\\q\r");
    assert!(terminal.child.wait().expect("it ends").success());
    assert!(home.join("kept/manifest").exists() && !std::path::Path::new("/kept").exists());
}

#[test]
fn a_wide_result_fits_the_terminal() {
    let mut terminal = Terminal::open("wide", &[]);
    let columns: Vec<String> = (0..19).map(|i| format!("'value {i}' as selected_{i}")).collect();
    let query = format!("select {};\r", columns.join(", "));
    terminal.keys(&query);
    let shown = terminal.expect("of 19 columns shown");
    for line in shown.lines().filter(|line| line.starts_with('│')) {
        assert!(line.chars().count() <= 80 && line.contains('…'), "{line}");
    }
    terminal.expect("frazil> ");
    // A wider window shows more, and all if that is said.
    terminal.line("\\! stty cols 200", "");
    terminal.keys(&query);
    terminal.expect("of 19 columns shown");
    terminal.expect("frazil> ");
    terminal.line(".maxwidth 0", "");
    terminal.keys(&query);
    let shown = terminal.expect("(1 row)");
    assert!(shown.contains("selected_9 ") && !shown.contains('…'), "{shown}");
    terminal.expect("frazil> ");
    terminal.leave();
}
