//! A process in which eight threads commit is killed, again and again: what it said was committed is there, and no part of anything else.
//! `FRAZIL_KILL_CYCLES=200` kills more often.

use crate::{directory, rows};
use frazil::Database;
use frazil_testkit::Random;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const THREADS: usize = 8;
const DIRECTORY: &str = "FRAZIL_TEST_KILLED_DIRECTORY";

/// What each thread has committed: its rows are 1, 2, 3 … without a gap, and its counter says how many.
fn committed(database: &Database) -> Vec<u64> {
    let c = database.connect();
    let threads = rows(
        &c,
        "select n.thread, n.last, count(l.seq), coalesce(max(l.seq), 0) from counters n left join entries l on l.thread = n.thread \
         group by n.thread, n.last order by n.thread",
    );
    let lines: Vec<Vec<u64>> = (threads.lines())
        .map(|line| {
            line.split('|')
                .map(|cell| cell.parse().expect("a number"))
                .collect()
        })
        .collect();
    assert_eq!(lines.len(), THREADS);
    for (thread, line) in lines.iter().enumerate() {
        assert_eq!(line[0], thread as u64);
        assert!(
            line[1] == line[2] && line[2] == line[3],
            "thread {thread}: {line:?}"
        );
        if line[1] > 0 {
            let key = format!(
                "select seq from entries where thread = {thread} and seq = {}",
                line[1]
            );
            assert_eq!(rows(&c, &key), line[1].to_string());
        }
    }
    lines.into_iter().map(|line| line[1]).collect()
}

/// What is killed: says what it finds, and then each commit when it returned.
#[test]
#[ignore = "run by a_killed_process_has_what_it_acknowledged in a process of its own"]
fn process_to_be_killed() {
    let Some(path) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let say = |line: String| {
        let mut out = std::io::stdout().lock();
        out.write_all(line.as_bytes())
            .and_then(|()| out.flush())
            .expect("somebody reads");
    };
    let database = Database::open(Path::new(&path)).expect("it opens");
    let c = database.connect();
    if !rows(&c, "show tables").contains("counters") {
        rows(
            &c,
            "begin; create table counters (thread integer primary key, last integer); \
             create table entries (thread integer, seq integer, text varchar(100), primary key (thread, seq)); \
             insert into counters values (0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0); commit",
        );
    }
    rows(&c, "set max_wal_size = '200kB'; set frazil.freeze_after = '1ms'");
    let found = committed(&database);
    for (thread, last) in found.iter().enumerate() {
        say(format!("\nfound {thread} {last}\n"));
    }
    std::thread::scope(|scope| {
        for (thread, last) in found.into_iter().enumerate() {
            let (database, say) = (database.clone(), &say);
            scope.spawn(move || {
                let c = database.connect();
                rows(&c, "set threads = 1; set lock_timeout = '60s'");
                for seq in last + 1.. {
                    let text = "x".repeat(seq as usize % 90);
                    c.execute(&format!(
                        "begin; insert into entries values ({thread}, {seq}, '{text}'); \
                         update counters set last = {seq} where thread = {thread}; commit"
                    ))
                    .unwrap_or_else(|e| panic!("{e:?}"));
                    say(format!("\nkept {thread} {seq}\n"));
                }
            });
        }
    });
}

fn killed_process(path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("it runs"));
    command.args([
        "kills::process_to_be_killed",
        "--exact",
        "--ignored",
        "--nocapture",
    ]);
    command.env(DIRECTORY, path);
    command
}

#[test]
fn a_killed_process_has_what_it_acknowledged() {
    let cycles: u64 = std::env::var("FRAZIL_KILL_CYCLES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(3);
    let path = directory("killed");
    let mut random = Random::new(31);
    let mut kept = [0u64; THREADS];
    for cycle in 0..cycles {
        let mut child = killed_process(&path)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let (mut found, mut commits) = (0, 0);
        let wanted = random.below(400);
        let mut is_killed = false;
        for line in lines.map_while(Result::ok) {
            let words: Vec<&str> = line.split(' ').collect();
            let [word @ ("found" | "kept"), thread, number] = words[..] else {
                continue;
            };
            let (Ok(thread), Ok(number)) = (thread.parse::<usize>(), number.parse::<u64>()) else {
                continue;
            };
            match word {
                "found" => {
                    let before = kept[thread];
                    // One may be committed whose acknowledgement was not heard.
                    assert!(
                        (before..=before + 1).contains(&number),
                        "cycle {cycle}, thread {thread}: {before} were acknowledged, {number} are there"
                    );
                    found += 1;
                }
                _ => commits += 1,
            }
            kept[thread] = number;
            if !is_killed && commits > wanted {
                // Sometimes in the middle of something else.
                std::thread::sleep(Duration::from_micros(random.below(3_000)));
                child.kill().expect("it runs");
                is_killed = true;
            }
        }
        let status = child.wait().expect("it ends");
        assert!(
            is_killed && found == THREADS,
            "cycle {cycle}: {status}, {found} threads, {commits} commits"
        );
    }
    // Nobody listens, and it may still be opening.
    for _ in 0..cycles * 4 {
        let mut child = killed_process(&path)
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        std::thread::sleep(Duration::from_micros(random.below(120_000)));
        child.kill().expect("it runs");
        child.wait().expect("it ends");
    }
    let database = Database::open(&path).expect("it opens");
    let last = committed(&database);
    assert!((0..THREADS).all(|t| last[t] >= kept[t]), "{last:?} {kept:?}");
    println!("{cycles} kills, {} commits", last.iter().sum::<u64>());
    drop(database);
    let _ = std::fs::remove_dir_all(&path);
}
