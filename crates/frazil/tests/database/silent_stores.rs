//! Readers of a published folder in an object store that answers slowly or not at all: who waits, for how long, and
//! what ends the wait.

use crate::{rows, state};
use frazil::{Access, Connection, Database, Opening, PublishOptions, SqlState};
use frazil_objects::{ObjectCache, ObjectStore, ObjectUrl, ObjectVfs};
use frazil_testkit::SimVfs;
use frazil_types::Cancel;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// A store that waits for so long before it answers is silent.
const SILENT: Duration = Duration::from_secs(3600);
/// Longest time in which a wait ends that was told to.
const SOON: Duration = Duration::from_secs(10);
/// After this time a reader asks its store for a newer snapshot.
const OLD: Duration = Duration::from_millis(1100);

/// A published folder in a bucket in memory, and the database that publishes to it.
struct Shop {
    store: Arc<ObjectStore>,
    path: PathBuf,
    copies: PathBuf,
    writer: Connection,
}

impl Shop {
    /// A table of some blocks, and a role that logs in.
    fn new(name: &str) -> Shop {
        let url = ObjectUrl::parse(&format!("s3://{name}/shop"))
            .expect("a URL")
            .expect("it is whole");
        let copies = std::env::temp_dir().join(format!("frazil-silent-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&copies);
        std::fs::create_dir_all(&copies).expect("it can be made");
        let writer = Database::open_over(SimVfs::new(3).vfs(), Path::new("/db"))
            .expect("it opens")
            .connect();
        rows(
            &writer,
            "create table t (k bigint, s text); create role r login; \
             insert into t select i, 'text ' || i * 7919 % 10007 from generate_series(1::bigint, 200000) i; \
             freeze table t",
        );
        let shop = Shop {
            store: ObjectStore::in_memory(),
            path: PathBuf::from(url.to_string()),
            copies,
            writer,
        };
        shop.publish();
        shop
    }

    fn vfs(&self) -> ObjectVfs {
        let cache = ObjectCache::at(self.copies.clone(), 1 << 30);
        ObjectVfs::over(self.store.clone(), cache, &Cancel::new())
    }

    /// Empties the folder of copies: PUBLISH has read the headers of what is in the bucket.
    fn forget_copies(&self) {
        std::fs::remove_dir_all(&self.copies).expect("they are removed");
        std::fs::create_dir_all(&self.copies).expect("it can be made");
    }

    fn publish(&self) {
        let options = PublishOptions {
            is_incremental: true,
            keep: 2,
        };
        let published =
            self.writer
                .database()
                .publish_over(&self.vfs(), &self.path, &options, &Cancel::new());
        published.expect("it is published");
    }

    fn open(&self) -> Connection {
        let opening = Opening::to(Access::Read);
        let database = Database::open_over_as(Arc::new(self.vfs()), &self.path, &opening);
        database.expect("it opens").connect()
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.copies);
    }
}

/// Runs a statement that waits for the store, cancels it, and returns its error once it has ended.
fn cancelled(connection: &Connection, sql: &'static str) -> SqlState {
    let canceller = connection.cancel_handle();
    thread::scope(|scope| {
        let statement = scope.spawn(|| state(connection, sql));
        thread::sleep(Duration::from_millis(200));
        assert!(!statement.is_finished(), "{sql}: it waits");
        let pressed = Instant::now();
        canceller.cancel();
        let state = statement.join().expect("it does not panic");
        assert!(pressed.elapsed() < SOON, "{sql}: {:?}", pressed.elapsed());
        state
    })
}

#[test]
fn ctrl_c_ends_the_look_for_a_newer_snapshot() {
    let shop = Shop::new("silent-look");
    let reader = shop.open();
    assert_eq!(rows(&reader, "select count(*) from t"), "200000");
    thread::sleep(OLD);
    shop.store.slow_down(SILENT);
    for _ in 0..2 {
        assert_eq!(cancelled(&reader, "select 1"), SqlState::QUERY_CANCELED);
    }
    rows_in_time(&reader, "set statement_timeout = '100ms'");
    let begun = Instant::now();
    assert_eq!(state(&reader, "select 1"), SqlState::QUERY_CANCELED);
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    rows_in_time(&reader, "set statement_timeout = 0");
    shop.store.slow_down(Duration::ZERO);
    assert_eq!(rows(&reader, "select count(*) from t"), "200000");
}

/// The answer of a statement that does not wait for the store.
fn rows_in_time(connection: &Connection, sql: &str) -> String {
    let begun = Instant::now();
    let answer = rows(connection, sql);
    assert!(begun.elapsed() < SOON, "{sql}: {:?}", begun.elapsed());
    answer
}

#[test]
fn sessions_that_may_show_an_older_snapshot_do_not_wait_for_one_that_looks() {
    let shop = Shop::new("silent-others");
    let reader = shop.open();
    let (patient, other) = (reader.database().connect(), reader.database().connect());
    rows(&patient, "set read_lag = '1h'; select count(*) from t");
    thread::sleep(OLD);
    shop.store.slow_down(SILENT);
    let canceller = reader.cancel_handle();
    thread::scope(|scope| {
        let looks = scope.spawn(|| state(&reader, "select count(*) from t"));
        thread::sleep(Duration::from_millis(100));
        for _ in 0..20 {
            assert_eq!(rows_in_time(&patient, "select count(*) from t"), "200000");
        }
        // A client that logs in, and what a session says of itself.
        let client = reader.database().connect();
        assert!(!client.log_in("r").expect("it may"), "it is not a superuser");
        assert!(patient.database().published_snapshot().is_some());
        rows_in_time(&patient, "select * from frazil_wal");
        // A session that must see a newer one waits, and hears its own user.
        assert_eq!(
            cancelled(&other, "select count(*) from t"),
            SqlState::QUERY_CANCELED
        );
        assert!(!looks.is_finished(), "it waits on");
        // Statements that read nothing do not wait.
        for sql in [
            "set read_lag = '1h'",
            "begin",
            "commit",
            "set read_lag = 0",
            "show read_lag",
        ] {
            rows_in_time(&other, sql);
        }
        canceller.cancel();
        assert_eq!(looks.join().expect("it ends"), SqlState::QUERY_CANCELED);
    });
}

#[test]
fn sessions_that_wait_for_a_look_see_what_it_found() {
    let shop = Shop::new("slow-look");
    let reader = shop.open();
    rows(&shop.writer, "delete from t where k > 1000");
    shop.publish();
    thread::sleep(OLD);
    shop.store.slow_down(Duration::from_millis(100));
    let sessions: Vec<Connection> = (0..8).map(|_| reader.database().connect()).collect();
    let before = shop.store.requests();
    thread::scope(|scope| {
        for session in &sessions {
            scope.spawn(|| assert_eq!(rows(session, "select count(*) from t"), "1000"));
        }
    });
    // The look, the manifest and what it names are asked for once, not once for each session.
    let requests = shop.store.requests() - before;
    assert!(
        requests < 30,
        "{requests} requests of {} sessions",
        sessions.len()
    );
}

#[test]
fn ctrl_c_ends_the_wait_for_a_block() {
    for threads in [1, 4] {
        let shop = Shop::new(&format!("silent-block-{threads}"));
        let reader = shop.open();
        let other = reader.database().connect();
        rows(&reader, &format!("set threads = {threads}; set read_lag = '1h'"));
        rows(&other, "set threads = 1; set read_lag = '1h'");
        shop.store.slow_down(SILENT);
        assert_eq!(
            cancelled(&reader, "select sum(k), max(s) from t"),
            SqlState::QUERY_CANCELED
        );
        // One session fetches a block, and another one waits for the same block.
        thread::scope(|scope| {
            let fetches = scope.spawn(|| state(&reader, "select sum(k), max(s) from t"));
            thread::sleep(Duration::from_millis(100));
            assert_eq!(
                cancelled(&other, "select sum(k), max(s) from t"),
                SqlState::QUERY_CANCELED
            );
            assert!(!fetches.is_finished(), "it waits on");
            reader.cancel_handle().cancel();
            assert_eq!(fetches.join().expect("it ends"), SqlState::QUERY_CANCELED);
        });
        shop.store.slow_down(Duration::ZERO);
        assert_eq!(
            rows(&reader, "select sum(k), max(s) from t"),
            rows(&shop.writer, "select sum(k), max(s) from t")
        );
    }
}

#[test]
fn a_session_takes_over_the_blocks_that_a_cancelled_one_was_fetching() {
    let shop = Shop::new("slow-block");
    let reader = shop.open();
    let other = reader.database().connect();
    rows(&reader, "set threads = 1; set read_lag = '1h'");
    rows(&other, "set threads = 1; set read_lag = '1h'");
    shop.store.slow_down(Duration::from_secs(1));
    let canceller = reader.cancel_handle();
    thread::scope(|scope| {
        let fetches = scope.spawn(|| state(&reader, "select max(s) from t where k < 100"));
        thread::sleep(Duration::from_millis(200));
        let waits = scope.spawn(|| rows(&other, "select max(s) from t where k < 100"));
        thread::sleep(Duration::from_millis(100));
        canceller.cancel();
        assert_eq!(fetches.join().expect("it ends"), SqlState::QUERY_CANCELED);
        let expected = rows(&shop.writer, "select max(s) from t where k < 100");
        assert_eq!(waits.join().expect("it ends"), expected);
    });
}

/// Removes everything that is in a bucket.
fn emptied(shop: &Shop) {
    let all = ObjectUrl::parse(shop.path.to_str().expect("a text"))
        .expect("a URL")
        .expect("it is whole");
    let cancel = Cancel::new();
    for object in shop
        .store
        .list(&all.with_key("shop/"), &cancel)
        .expect("it is listed")
    {
        shop.store.remove(&object.url, &cancel).expect("it is removed");
    }
}

#[test]
fn many_segments_are_opened_by_few_requests_and_known_ones_by_none() {
    let shop = Shop::new("many-segments");
    const SEGMENTS: u64 = 60;
    for i in 0..SEGMENTS {
        rows(
            &shop.writer,
            &format!("create table t{i} as select {i} as a; freeze table t{i}"),
        );
        shop.publish();
    }
    let all = |c: &Connection| {
        let sums: Vec<String> = (0..SEGMENTS)
            .map(|i| rows(c, &format!("select sum(a) from t{i}")))
            .collect();
        sums.join(",")
    };
    let expected = all(&shop.writer);
    shop.forget_copies();
    let before = shop.store.requests();
    let reader = shop.open();
    // One for the first pages of each segment, and some for the folder, the manifest and the listing.
    let opening = shop.store.requests() - before;
    assert!((SEGMENTS..SEGMENTS + 30).contains(&opening), "{opening} requests");
    assert_eq!(all(&reader), expected);
    rows(&shop.writer, "create table more as select 7 as a");
    shop.publish();
    thread::sleep(OLD);
    let before = shop.store.requests();
    assert_eq!(rows(&reader, "select a from more"), "7");
    let moving = shop.store.requests() - before;
    assert!(moving < 20, "{moving} requests");
    assert_eq!(all(&reader), expected);
    // A folder that is written anew has other segments of equal numbers.
    emptied(&shop);
    rows(
        &shop.writer,
        &format!(
            "update t0 set a = 100; delete from t{}; drop table more",
            SEGMENTS - 1
        ),
    );
    shop.publish();
    thread::sleep(OLD);
    assert_eq!(all(&reader), all(&shop.writer));
}

#[test]
fn requests_for_many_segments_are_sent_side_by_side_and_end_with_ctrl_c() {
    let shop = Shop::new("slow-segments");
    for i in 0..30 {
        rows(
            &shop.writer,
            &format!("create table t{i} as select {i} as a; freeze table t{i}"),
        );
        shop.publish();
    }
    shop.forget_copies();
    const WAIT: Duration = Duration::from_millis(200);
    shop.store.slow_down(WAIT);
    let (begun, before) = (Instant::now(), shop.store.requests());
    let reader = shop.open();
    let took = begun.elapsed();
    let requests = u32::try_from(shop.store.requests() - before).expect("they are few");
    assert!(
        requests > 30 && took < WAIT * requests * 2 / 3,
        "{requests} requests in {took:?}"
    );
    drop(reader);
    shop.forget_copies();
    shop.store.slow_down(SILENT);
    let opening = Opening::to(Access::Read);
    let cancel = opening.cancel.clone();
    thread::scope(|scope| {
        let opens = scope.spawn(|| {
            let opened = Database::open_over_as(Arc::new(shop.vfs()), &shop.path, &opening);
            opened.map(drop).map_err(|error| error.state())
        });
        thread::sleep(Duration::from_millis(100));
        cancel.cancel();
        assert_eq!(opens.join().expect("it ends"), Err(SqlState::QUERY_CANCELED));
    });
}
