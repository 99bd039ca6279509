//! PUBLISH TO a URL: snapshots in an object store, which readers elsewhere open.

use crate::{directory, rows, state};
use frazil::{
    Access, Cancel, Connection, Database, Error, FileAccess, OpenOptions, PublishOptions, SqlState,
};
use frazil_objects::{ObjectCache, ObjectMeta, ObjectStore, ObjectUrl, ObjectVfs, Put};
use frazil_testkit::SimVfs;
use frazil_vfs::{Entry, HeldDirectory, IoCounters, Locking, Mapping, Vfs, VfsFile, VfsLock};
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Frozen and hot rows, deleted ones among both, a key, a view, a sequence, a comment.
const SETUP: &str = "set frazil.freeze_after = off; create sequence q; \
    create table t (k integer primary key, v integer check (v >= 0), s text); comment on table t is 'all of it'; \
    create view w as select count(*) as n from t; create table e (a integer); \
    insert into t select i, i % 7, 'text ' || i % 13 from generate_series(0, 699) i; freeze table t; \
    delete from t where k % 4 = 1; insert into t values (1000, 1, null), (1001, 2, 'x'); \
    delete from t where k = 1001; select nextval('q')";

fn answer(c: &Connection) -> String {
    rows(c, "select count(*), sum(k), sum(v), count(s), max(s) from t") + "/" + &rows(c, "select n from w")
}

/// One query, where many readers are opened.
fn sums(c: &Connection) -> String {
    rows(c, "select count(*), sum(k), sum(v), count(s) from t")
}

/// The folder of copies of this process.
fn copies() -> Arc<ObjectCache> {
    static COPIES: OnceLock<Arc<ObjectCache>> = OnceLock::new();
    let made = COPIES.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("frazil-copies-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("it can be made");
        let cache = ObjectCache::at(folder, 1 << 30);
        ObjectCache::stand_in(cache.clone());
        cache
    });
    made.clone()
}

/// A bucket in memory, and the database that publishes to it.
struct Bucket {
    store: Arc<ObjectStore>,
    root: ObjectUrl,
    c: Connection,
}

impl Bucket {
    fn new(name: &str) -> Bucket {
        copies();
        let root = ObjectUrl::parse(&format!("s3://{name}/"))
            .expect("a URL")
            .expect("a bucket");
        let store = ObjectStore::in_memory();
        ObjectStore::stand_in(&root, store.clone());
        let sim = SimVfs::new(3);
        let c = Database::open_over(sim.vfs(), Path::new("/db"))
            .expect("it opens")
            .connect();
        rows(&c, SETUP);
        Bucket { store, root, c }
    }

    fn url(&self, key: &str) -> String {
        self.root.with_key(key).to_string()
    }

    fn objects(&self, key: &str) -> Vec<ObjectMeta> {
        let prefix = self.root.with_key(key);
        self.store.list(&prefix, &Cancel::new()).expect("it is listed")
    }

    fn segments(&self) -> Vec<String> {
        let segments = self.objects("shop/segments/");
        segments
            .into_iter()
            .map(|object| object.url.to_string())
            .collect()
    }

    fn vfs(&self) -> ObjectVfs {
        ObjectVfs::over(self.store.clone(), copies(), &Cancel::new())
    }

    fn publish(&self, how: &str) -> Vec<u64> {
        let row = rows(&self.c, &format!("publish to '{}' {how}", self.url("shop")));
        row.split('|').map(|n| n.parse().expect("a number")).collect()
    }

    fn open(&self, key: &str) -> Result<Connection, Error> {
        Database::open_read_only(self.url(key)).map(|database| database.connect())
    }

    fn read(&self, key: &str) -> Connection {
        self.open(key).unwrap_or_else(|e| panic!("{key}: {e:?}"))
    }
}

#[test]
fn a_snapshot_in_a_bucket_has_what_was_committed_when_it_was_published() {
    let bucket = Bucket::new("committed");
    let before = answer(&bucket.c);
    let made = bucket.publish("");
    assert_eq!(made[0], 1);
    assert!(made[2] > 0 && made[3] == made[4], "{made:?}");
    rows(&bucket.c, "update t set v = 5; drop view w");
    for url in ["shop", "shop/", "shop/snapshots/00000001"] {
        let reader = bucket.read(url);
        assert_eq!(answer(&reader), before, "{url}");
        assert_eq!(rows(&reader, "select s from t where k = 13"), "");
        assert_eq!(rows(&reader, "select s from t where k = 14"), "text 1");
        assert_eq!(
            rows(&reader, "select obj_description('t'::regclass)"),
            "all of it"
        );
        assert_eq!(rows(&reader, "select last_value from q"), "1");
        assert_eq!(rows(&reader, "select count(*) from e"), "0");
        assert_eq!(
            state(&reader, "insert into e values (1)"),
            SqlState::READ_ONLY_TRANSACTION
        );
        assert_eq!(
            state(&reader, "publish to 's3://committed/x'"),
            SqlState::READ_ONLY_TRANSACTION
        );
    }
    let published = format!(
        "select count(*), sum(k) from published('{}', 't')",
        bucket.url("shop")
    );
    assert_eq!(
        rows(&bucket.c, &published),
        rows(&bucket.read("shop"), "select count(*), sum(k) from t")
    );
    assert_eq!(
        state(
            &bucket.c,
            "select 1 from published('s3://committed/shop', 'none')"
        ),
        SqlState::UNDEFINED_TABLE
    );
    assert_eq!(
        state(
            &bucket.c,
            "select 1 from published('s3://committed/nothing', 't')"
        ),
        SqlState::UNDEFINED_FILE
    );
}

#[test]
fn a_reader_moves_to_the_next_snapshot_after_a_second_and_a_named_one_stays() {
    let bucket = Bucket::new("moves");
    bucket.publish("keep 2");
    let before = answer(&bucket.c);
    let (follows, stays) = (bucket.read("shop"), bucket.read("shop/snapshots/00000001"));
    assert_eq!(answer(&follows), before);
    rows(
        &bucket.c,
        "insert into t select i, 1, 'new' from generate_series(2000, 2999) i",
    );
    assert_eq!(bucket.publish("incremental keep 2")[0], 2);
    std::thread::sleep(Duration::from_millis(1100));
    assert_eq!(answer(&follows), answer(&bucket.c));
    assert_eq!(answer(&stays), before);
    assert_eq!(answer(&bucket.read("shop/snapshots/00000001")), before);
    // The third snapshot takes the place of the first one.
    rows(&bucket.c, "delete from t where k < 100");
    bucket.publish("incremental keep 2");
    let error = bucket
        .open("shop/snapshots/00000001")
        .map(drop)
        .expect_err("it is gone");
    assert_eq!(error.state(), SqlState::UNDEFINED_FILE);
    assert!(error.message().contains("has no snapshot 1"), "{error}");
}

#[test]
fn a_block_that_a_later_publish_has_removed_is_named() {
    let bucket = Bucket::new("removed");
    rows(
        &bucket.c,
        "insert into t select i, i % 5, 'long text ' || i * 7919 % 10007 from generate_series(10000, 40000) i; \
         freeze table t",
    );
    bucket.publish("");
    let reader = bucket.read("shop/snapshots/00000001");
    // Headers are there, and the column is not.
    rows(&bucket.c, "drop table t cascade; create table t (k integer)");
    bucket.publish("");
    let error = reader
        .query("select sum(k), max(s) from t", ())
        .map(drop)
        .expect_err("the block is gone");
    assert_eq!(error.state(), SqlState::UNDEFINED_FILE);
    assert!(
        error.message().contains("was removed while it was read"),
        "{error}"
    );
    assert!(
        error.hint().is_some_and(|hint| hint.contains("KEEP")),
        "{error:?}"
    );
}

#[test]
fn an_incremental_publish_sends_what_has_changed_and_a_query_fetches_what_it_reads() {
    let bucket = Bucket::new("little");
    rows(
        &bucket.c,
        "create table big (k bigint, a bigint, s text); \
         insert into big select i, i * 7919 % 1000003, 'a text of row ' || i from generate_series(1::bigint, 400000) i;\
         freeze table big",
    );
    let full = bucket.publish("");
    assert!(full[3] > 1 << 20, "{full:?}");
    rows(
        &bucket.c,
        "delete from big where k <= 4000; insert into big select * from big where k <= 5000",
    );
    let next = bucket.publish("incremental");
    assert!(next[3] * 20 < full[3], "{next:?} of {full:?}");
    let copies = ObjectCache::at(directory("little-copies"), 1 << 30);
    std::fs::create_dir_all(directory("little-copies")).expect("it can be made");
    let vfs = Arc::new(ObjectVfs::over(
        bucket.store.clone(),
        copies.clone(),
        &Cancel::new(),
    ));
    let opening = frazil::Opening::to(Access::Read);
    let shop = PathBuf::from(bucket.url("shop"));
    let reader = Database::open_over_as(vfs, &shop, &opening)
        .expect("it opens")
        .connect();
    let opened = copies.bytes();
    assert!(opened < full[4] / 5, "headers take {opened} bytes of {}", full[4]);
    rows(
        &reader,
        "select count(*) from big where k between 300000 and 300010 and a >= 0",
    );
    let few = copies.bytes();
    assert!(
        few - opened < full[4] / 5,
        "a block takes {} bytes of {}",
        few - opened,
        full[4]
    );
    assert_eq!(
        rows(&reader, "select sum(k), count(*) from big"),
        rows(&bucket.c, "select sum(k), count(*) from big")
    );
    assert_eq!(
        rows(&reader, "select sum(length(s)), sum(a) from big"),
        rows(&bucket.c, "select sum(length(s)), sum(a) from big")
    );
    let _ = std::fs::remove_dir_all(directory("little-copies"));
}

#[test]
fn damaged_copies_are_fetched_anew() {
    let bucket = Bucket::new("damaged-copies");
    bucket.publish("");
    let folder = directory("damaged-copies-here");
    std::fs::create_dir_all(&folder).expect("it can be made");
    let open = || {
        let vfs = ObjectVfs::over(
            bucket.store.clone(),
            ObjectCache::at(folder.clone(), 1 << 30),
            &Cancel::new(),
        );
        let opening = frazil::Opening::to(Access::Read);
        let shop = PathBuf::from(bucket.url("shop"));
        Database::open_over_as(Arc::new(vfs), &shop, &opening)
            .expect("it opens")
            .connect()
    };
    assert_eq!(answer(&open()), answer(&bucket.c));
    // As after a power cut: the marks are there, and the bytes are not.
    for copy in std::fs::read_dir(&folder).expect("a folder") {
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open(copy.expect("a copy").path())
            .expect("it opens");
        let len = file.metadata().expect("metadata").len();
        let pages = len.div_ceil((16 << 10) + 1);
        std::os::unix::fs::FileExt::write_all_at(&file, &vec![0; (len - pages) as usize], 0)
            .expect("it is written");
    }
    assert_eq!(answer(&open()), answer(&bucket.c));
    std::fs::remove_dir_all(&folder).expect("it is removed");
}

#[test]
fn what_is_not_a_published_folder_is_refused_by_name() {
    let bucket = Bucket::new("refused");
    let put = |key: &str, bytes: &[u8]| {
        let url = bucket.root.with_key(key);
        bucket
            .store
            .put(&url, bytes.to_vec(), &Put::Replace, &Cancel::new())
            .expect("it is written");
    };
    put("full/data.csv", b"a,b\n");
    put("marked/published", b"by nobody");
    bucket.publish("");
    let other = Bucket::new("refused-other");
    for (key, why) in [
        ("full", "it holds \"data.csv\""),
        ("marked", "it holds \"published\""),
        (
            "shop/snapshots/00000001",
            "is inside the published folder \"s3://refused/shop\"",
        ),
        (
            "shop/segments",
            "is inside the published folder \"s3://refused/shop\"",
        ),
        ("", "is not a published folder: it holds"),
    ] {
        for how in ["", " incremental keep 3"] {
            let before = bucket.objects("");
            let error = bucket
                .c
                .execute(&format!("publish to '{}'{how}", bucket.url(key)))
                .map(drop)
                .expect_err(key);
            assert_eq!(error.state(), SqlState::INVALID_PARAMETER, "{key}: {error}");
            assert!(error.message().contains(why), "{error}");
            assert_eq!(bucket.objects(""), before, "{key}: nothing is written");
        }
    }
    let error = other
        .c
        .execute("publish to 's3://refused/shop'")
        .map(drop)
        .expect_err("of another");
    assert!(
        error.message().contains("holds snapshots of another database"),
        "{error}"
    );
    for url in [
        "publish to 's3://'",
        "publish to 's3://key:secret@bucket/shop'",
        "publish to ''",
    ] {
        assert_eq!(state(&bucket.c, url), SqlState::INVALID_PARAMETER, "{url}");
    }
    for (key, wanted) in [
        ("nothing", SqlState::UNDEFINED_FILE),
        ("full", SqlState::INVALID_PARAMETER),
        ("shop/snapshots/00000009", SqlState::UNDEFINED_FILE),
    ] {
        assert_eq!(
            bucket.open(key).map(drop).expect_err(key).state(),
            wanted,
            "{key}"
        );
    }
    let error = Database::open(bucket.url("shop"))
        .map(drop)
        .expect_err("it is written elsewhere");
    assert_eq!(error.state(), SqlState::FEATURE_NOT_SUPPORTED);
    assert_eq!(
        state(&bucket.c, "backup to 's3://refused/backup'"),
        SqlState::FEATURE_NOT_SUPPORTED
    );
    assert!(!Path::new("s3:").exists());
}

#[test]
fn statements_that_may_name_no_file_name_no_url() {
    let bucket = Bucket::new("guarded");
    bucket.publish("");
    let folder = std::env::current_dir().expect("a directory");
    for files in [
        FileAccess::Off,
        FileAccess::to_folders(&[&folder]).expect("a folder"),
    ] {
        let home = directory("guarded-other");
        let database = OpenOptions::new()
            .file_access(files)
            .open(&home)
            .expect("it opens");
        let c = database.connect();
        for statement in [
            "publish to 's3://guarded/other'",
            "select * from published('s3://guarded/shop', 't')",
        ] {
            assert_eq!(
                state(&c, statement),
                SqlState::INSUFFICIENT_PRIVILEGE,
                "{statement}"
            );
        }
        drop((c, database));
        std::fs::remove_dir_all(&home).expect("it is removed");
    }
}

#[test]
fn a_cancelled_publish_leaves_the_snapshot_that_was_there() {
    let bucket = Bucket::new("cancelled");
    let before = answer(&bucket.c);
    let cancel = Cancel::new();
    let publish = |cancel: &Cancel| {
        let shop = bucket.url("shop");
        bucket
            .c
            .database()
            .publish(shop, &PublishOptions::default(), cancel)
    };
    publish(&cancel).expect("it is published");
    let segments = bucket.segments();
    cancel.cancel();
    rows(&bucket.c, "update t set v = 3");
    assert_eq!(
        publish(&cancel).expect_err("it is stopped").state(),
        SqlState::QUERY_CANCELED
    );
    assert_eq!(answer(&bucket.read("shop")), before);
    assert_eq!(bucket.segments(), segments);
}

/// The way in which a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The process is killed before the call does anything: no later call does either.
    Killed,
    /// The call fails, and later ones succeed.
    Refused,
    /// The call does its work, but its answer is lost. Later calls succeed.
    AnswerLost,
    /// Something else happens before the call.
    Overtaken,
}

/// A bucket of which a call that writes fails. Its locks keep nobody away, as those of another process do not.
#[derive(Clone)]
struct Failing {
    inner: Arc<dyn Vfs>,
    overtaking: Option<Arc<dyn Fn() + Send + Sync>>,
    /// Calls that write until one fails.
    left: Arc<AtomicI64>,
    fault: Fault,
    is_dead: Arc<AtomicBool>,
}

impl fmt::Debug for Failing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failing").finish_non_exhaustive()
    }
}

/// A lock that keeps nobody away.
#[derive(Debug)]
struct NoLock;

impl VfsLock for NoLock {
    fn remove(&self, _name: &Path) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug)]
struct FailingFile(Box<dyn VfsFile>, Failing);

fn dead<T>() -> io::Result<T> {
    Err(io::Error::other("the process is dead"))
}

impl Failing {
    fn at(inner: Arc<dyn Vfs>, nth: i64, fault: Fault) -> Failing {
        Failing {
            inner,
            overtaking: None,
            left: Arc::new(AtomicI64::new(nth)),
            fault,
            is_dead: Arc::default(),
        }
    }

    fn has_failed(&self) -> bool {
        self.left.load(Ordering::Relaxed) < 0
    }

    fn alive(&self) -> io::Result<()> {
        match self.is_dead.load(Ordering::Relaxed) {
            true => dead(),
            false => Ok(()),
        }
    }

    fn write<T>(&self, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.alive()?;
        if self.left.fetch_sub(1, Ordering::Relaxed) != 0 {
            return call();
        }
        if self.fault == Fault::Overtaken {
            self.overtaking.iter().for_each(|overtake| overtake());
            return call();
        }
        if self.fault == Fault::AnswerLost {
            call()?;
        }
        if self.fault == Fault::Killed {
            self.is_dead.store(true, Ordering::Relaxed);
        }
        Err(io::Error::other("a fault of the test"))
    }
}

impl VfsFile for FailingFile {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        self.1.alive()?;
        self.0.read_at(offset, into)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.1.write(|| self.0.write_at(offset, bytes))
    }

    fn sync(&self) -> io::Result<()> {
        self.1.write(|| self.0.sync())
    }

    fn sync_so_far(&self) -> io::Result<()> {
        self.0.sync_so_far()
    }

    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }
}

impl Vfs for Failing {
    fn hold(&self, directory: &Path) -> io::Result<HeldDirectory> {
        let held = self.inner.hold(directory)?;
        let vfs = Failing {
            inner: held.vfs,
            ..self.clone()
        };
        Ok(HeldDirectory {
            vfs: Arc::new(vfs),
            path: held.path,
        })
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn VfsFile>> {
        self.alive()?;
        let file = self.inner.open(path, access)?;
        Ok(Box::new(FailingFile(file, self.clone())))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn VfsFile>> {
        let file = self.write(|| self.inner.create(path))?;
        Ok(Box::new(FailingFile(file, self.clone())))
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.inner.create_directory(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.inner.sync_directory(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.write(|| self.inner.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.write(|| self.inner.remove(path))
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        self.alive()?;
        self.inner.list(directory)
    }

    fn entry(&self, path: &Path) -> io::Result<Option<Entry>> {
        self.alive()?;
        self.inner.entry(path)
    }

    fn is_within(&self, directory: &Path, above: &Path) -> io::Result<bool> {
        self.inner.is_within(directory, above)
    }

    fn map(&self, path: &Path) -> io::Result<Mapping> {
        self.alive()?;
        self.inner.map(path)
    }

    fn lock(&self, _directory: &Path, _access: Access) -> io::Result<Locking> {
        Ok(Locking::Ours(Box::new(NoLock)))
    }

    fn space(&self, directory: &Path) -> io::Result<u64> {
        self.inner.space(directory)
    }

    fn counters(&self) -> &IoCounters {
        self.inner.counters()
    }

    fn is_elsewhere(&self) -> bool {
        true
    }
}

const FAULTS: [Fault; 3] = [Fault::Killed, Fault::Refused, Fault::AnswerLost];

/// A fault at each call of an incremental PUBLISH that removes an old snapshot, or of a first one: the bucket has the
/// old snapshot or the new one, whole, and the next PUBLISH leaves nothing that no snapshot needs.
fn fails_at_every_call(name: &str, has_older: bool) {
    let bucket = Bucket::new(name);
    let shop = PathBuf::from(bucket.url("shop"));
    let options = PublishOptions {
        is_incremental: true,
        keep: 1,
    };
    for fault in FAULTS {
        for nth in 0.. {
            for object in bucket.objects("shop/") {
                bucket
                    .store
                    .remove(&object.url, &Cancel::new())
                    .expect("it is removed");
            }
            let older = has_older.then(|| {
                bucket.publish("");
                sums(&bucket.c)
            });
            rows(&bucket.c, "update t set v = v + 1 where k % 3 = 0");
            let newer = sums(&bucket.c);
            let failing = Failing::at(Arc::new(bucket.vfs()), nth, fault);
            let made = bucket
                .c
                .database()
                .publish_over(&failing, &shop, &options, &Cancel::new());
            let context = format!("{fault:?} at {nth}: {made:?}");
            let found = match bucket.open("shop") {
                Ok(reader) => Some(sums(&reader)),
                Err(error) => {
                    assert_eq!(error.state(), SqlState::UNDEFINED_FILE, "{context}: {error}");
                    None
                }
            };
            match made.is_ok() {
                true => assert_eq!(found.as_ref(), Some(&newer), "{context}"),
                false => assert!(
                    found == older || found.as_ref() == Some(&newer),
                    "{context}: {found:?}"
                ),
            }
            let next = bucket.publish("incremental");
            let snapshot = format!("shop/snapshots/{:08}", next[0]);
            assert_eq!(sums(&bucket.read(&snapshot)), newer, "{context}");
            bucket.publish("");
            assert_eq!(bucket.segments().len(), 1, "{context}");
            assert_eq!(bucket.objects("shop/snapshots/").len(), 1, "{context}");
            if !failing.has_failed() {
                assert!(made.is_ok() && nth > 5, "{context}");
                break;
            }
        }
    }
}

#[test]
fn after_a_fault_at_any_call_of_a_first_publish_the_bucket_has_the_snapshot_or_none() {
    fails_at_every_call("first-fault", false);
}

#[test]
fn after_a_fault_at_any_call_of_a_later_publish_the_bucket_has_the_old_snapshot_or_the_new_one() {
    fails_at_every_call("later-fault", true);
}

/// Another process publishes as a whole before each call of a PUBLISH: one of the two fails by name, or both succeed
/// one after the other, and each snapshot that is there is whole.
fn is_overtaken(name: &str, has_older: bool) {
    let bucket = Bucket::new(name);
    let shop = PathBuf::from(bucket.url("shop"));
    let options = PublishOptions {
        is_incremental: true,
        keep: 2,
    };
    for nth in 0.. {
        for object in bucket.objects("shop/") {
            bucket
                .store
                .remove(&object.url, &Cancel::new())
                .expect("it is removed");
        }
        if has_older {
            bucket.publish("");
        }
        rows(&bucket.c, "update t set v = v + 1 where k % 3 = 0");
        let database = bucket.c.database().clone();
        let other = Failing::at(Arc::new(bucket.vfs()), i64::MAX, Fault::Refused);
        let path = shop.clone();
        let publish_all = move || {
            let made = database.publish_over(&other, &path, &options, &Cancel::new());
            made.expect("nobody is in its way");
        };
        let failing = Failing {
            overtaking: Some(Arc::new(publish_all)),
            ..Failing::at(Arc::new(bucket.vfs()), nth, Fault::Overtaken)
        };
        let made = bucket
            .c
            .database()
            .publish_over(&failing, &shop, &options, &Cancel::new());
        let context = format!("the other one came before call {nth}: {made:?}");
        if let Err(error) = &made {
            assert_eq!(error.state(), SqlState::OBJECT_IN_USE, "{context}");
        }
        let wanted = sums(&bucket.c);
        assert_eq!(sums(&bucket.read("shop")), wanted, "{context}");
        for object in bucket.objects("shop/snapshots/") {
            let key = object.url.key().to_owned();
            if let Ok(reader) = bucket.open(&key) {
                let found = sums(&reader);
                assert!(found == wanted || has_older, "{context}: {key}: {found}");
            }
        }
        bucket.publish("");
        bucket.publish("");
        assert_eq!(bucket.segments().len(), 1, "{context}");
        if !failing.has_failed() {
            assert!(made.is_ok() && nth > 5, "{context}");
            return;
        }
    }
}

#[test]
fn of_two_processes_that_publish_at_once_the_later_one_wins() {
    is_overtaken("overtaken", true);
}

#[test]
fn of_two_processes_that_publish_first_at_once_one_wins() {
    is_overtaken("overtaken-first", false);
}
