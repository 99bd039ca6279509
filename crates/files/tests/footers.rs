//! Footers that are kept between statements: they serve as long as the file is the same, and not a moment longer.

use arrow_array::{ArrayRef, Int32Array, RecordBatch};
use frazil_files::{ColumnsOf, FooterCache, ParquetFiles, PathColumns, ReadLimits};
use frazil_types::SqlState;
use parquet::arrow::ArrowWriter;
use std::fs::{File, FileTimes};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A directory of a test, which goes with it.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("frazil-footers-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("it is made");
        Directory(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A file of one column with these numbers.
fn parquet(numbers: std::ops::Range<i32>) -> Vec<u8> {
    let numbers: ArrayRef = Arc::new(Int32Array::from_iter_values(numbers));
    let batch = RecordBatch::try_from_iter([("n", numbers)]).expect("a batch");
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("it is written");
    writer.close().expect("it is closed");
    bytes
}

/// Sets the time of a file's last change so many seconds back.
fn age(path: &Path, seconds: u64) {
    let file = File::options().write(true).open(path).expect("it is there");
    let time = SystemTime::now() - Duration::from_secs(seconds);
    let times = FileTimes::new().set_modified(time);
    file.set_times(times).expect("its times are set");
}

/// Limits with a cache that keeps footers of files which changed so long ago.
fn keeping(settled: Duration) -> (Arc<FooterCache>, ReadLimits) {
    let footers = Arc::new(FooterCache::settling(settled));
    let limits = ReadLimits {
        footers: Some(footers.clone()),
        ..ReadLimits::default()
    };
    (footers, limits)
}

/// Rows of files, and the range of their column.
fn looked(paths: &[&Path], limits: &ReadLimits) -> (u32, Option<(i128, i128)>) {
    let paths: Vec<PathBuf> = paths.iter().map(|path| path.to_path_buf()).collect();
    let files = ParquetFiles::open(&paths, &PathColumns::default(), ColumnsOf::FirstFile, limits)
        .expect("they are sound");
    let (column, _) = files.column(0, 0).expect("it can be read");
    assert_eq!(column.len() as u32, files.chunks()[0]);
    (files.chunks().iter().sum(), files.range(0))
}

#[test]
fn a_footer_is_decoded_once() {
    let directory = Directory::new("once");
    let file = directory.file("a.parquet");
    std::fs::write(&file, parquet(0..100)).expect("it is written");
    let (footers, limits) = keeping(Duration::ZERO);
    for hits in 0..3 {
        assert_eq!(looked(&[&file], &limits), (100, Some((0, 99))));
        assert_eq!((footers.hits(), footers.len()), (hits, 1));
    }
    // The same file by another name.
    let other = directory.file("b.parquet");
    std::fs::rename(&file, &other).expect("it is renamed");
    let hits = footers.hits();
    looked(&[&other], &limits);
    looked(&[&other], &limits);
    assert!(footers.hits() > hits && footers.len() == 1);
}

#[test]
fn a_file_that_was_replaced_is_read_anew() {
    let directory = Directory::new("replaced");
    let file = directory.file("a.parquet");
    let (footers, limits) = keeping(Duration::ZERO);
    for start in [0, 1000, 2000] {
        let new = directory.file("new");
        std::fs::write(&new, parquet(start..start + 100)).expect("it is written");
        age(&new, 100);
        std::fs::rename(&new, &file).expect("it is renamed");
        let hits = footers.hits();
        let range = Some((i128::from(start), i128::from(start) + 99));
        assert_eq!(looked(&[&file], &limits), (100, range));
        assert_eq!(
            footers.hits(),
            hits,
            "another file, or one with the number of a file that is gone"
        );
        assert_eq!(looked(&[&file], &limits), (100, range));
        assert_eq!(footers.hits(), hits + 1);
    }
}

#[test]
fn a_file_that_was_rewritten_is_read_anew() {
    let directory = Directory::new("rewritten");
    let file = directory.file("a.parquet");
    let (footers, limits) = keeping(Duration::ZERO);
    let mut lengths = Vec::new();
    for (start, seconds) in [(0, 400), (1000, 300), (2000, 200)] {
        std::fs::write(&file, parquet(start..start + 100)).expect("it is written");
        age(&file, seconds);
        lengths.push(std::fs::metadata(&file).expect("it is there").len());
        let range = Some((i128::from(start), i128::from(start) + 99));
        let hits = footers.hits();
        assert_eq!(looked(&[&file], &limits), (100, range));
        assert_eq!((footers.hits(), footers.len()), (hits, 1));
        assert_eq!(looked(&[&file], &limits), (100, range));
        assert_eq!((footers.hits(), footers.len()), (hits + 1, 1));
    }
    assert!(lengths.iter().all(|length| *length == lengths[0]), "{lengths:?}");
}

#[test]
fn a_file_whose_time_was_set_back_is_read_anew() {
    let directory = Directory::new("set-back");
    let file = directory.file("a.parquet");
    let (footers, limits) = keeping(Duration::ZERO);
    std::fs::write(&file, parquet(0..100)).expect("it is written");
    let modified = std::fs::metadata(&file)
        .and_then(|m| m.modified())
        .expect("it has one");
    looked(&[&file], &limits);
    // By more than a tick of any clock that the file system may have.
    std::thread::sleep(Duration::from_millis(30));
    std::fs::write(&file, parquet(1000..1100)).expect("it is written");
    let opened = File::options().write(true).open(&file).expect("it is there");
    let times = FileTimes::new().set_modified(modified);
    opened.set_times(times).expect("its times are set");
    assert_eq!(looked(&[&file], &limits), (100, Some((1000, 1099))));
    assert_eq!(footers.hits(), 0);
}

#[test]
fn the_footer_of_a_file_that_just_changed_is_not_kept() {
    let directory = Directory::new("fresh");
    let file = directory.file("a.parquet");
    let (footers, limits) = keeping(Duration::from_secs(3600));
    std::fs::write(&file, parquet(0..100)).expect("it is written");
    looked(&[&file], &limits);
    // When the system says that something of it changed, that counts as well.
    age(&file, 10_000);
    looked(&[&file], &limits);
    looked(&[&file], &limits);
    assert_eq!((footers.hits(), footers.len()), (0, 0));
    // So does a time that lies ahead.
    let (footers, limits) = keeping(Duration::ZERO);
    let opened = File::options().write(true).open(&file).expect("it is there");
    let ahead = FileTimes::new().set_modified(SystemTime::now() + Duration::from_secs(1000));
    opened.set_times(ahead).expect("its times are set");
    looked(&[&file], &limits);
    looked(&[&file], &limits);
    assert_eq!((footers.hits(), footers.len()), (0, 0));
}

#[test]
fn a_file_that_was_damaged_gives_the_error_that_it_gives_without_a_cache() {
    let directory = Directory::new("damaged");
    let file = directory.file("a.parquet");
    let (footers, limits) = keeping(Duration::ZERO);
    let sound = parquet(0..100);
    std::fs::write(&file, &sound).expect("it is written");
    age(&file, 100);
    looked(&[&file], &limits);
    let mut cut = sound.clone();
    cut.truncate(sound.len() - 20);
    let mut bad_magic = sound.clone();
    bad_magic[sound.len() - 1] ^= 1;
    let mut bad_footer = sound.clone();
    bad_footer[sound.len() - 40..sound.len() - 8].fill(0xff);
    for (at, damaged) in [cut, bad_magic, bad_footer].into_iter().enumerate() {
        std::fs::write(&file, damaged).expect("it is written");
        age(&file, 90 - at as u64);
        for _ in 0..2 {
            let paths = [file.clone()];
            let with = ParquetFiles::open(&paths, &PathColumns::default(), ColumnsOf::FirstFile, &limits)
                .expect_err("it is damaged");
            let without = ParquetFiles::open(
                &paths,
                &PathColumns::default(),
                ColumnsOf::FirstFile,
                &ReadLimits::default(),
            )
            .expect_err("it is damaged");
            assert_eq!(with.state(), SqlState::BAD_COPY_FORMAT);
            assert_eq!(with.message(), without.message());
            let words = ["it ends too early", "it is damaged"];
            let said = with.message().rsplit(": ").next().unwrap_or_default();
            assert!(words.contains(&said), "{with}");
        }
    }
    assert_eq!(footers.hits(), 0);
    std::fs::write(&file, &sound).expect("it is written");
    age(&file, 50);
    assert_eq!(looked(&[&file], &limits), (100, Some((0, 99))));
}

#[test]
fn what_was_not_used_for_longest_goes() {
    let directory = Directory::new("many");
    let (footers, limits) = keeping(Duration::ZERO);
    let file = |at: usize| directory.file(&format!("{at}.parquet"));
    for at in 0..100 {
        std::fs::write(file(at), parquet(0..10)).expect("it is written");
    }
    footers.limit(10 << 20);
    for at in 0..100 {
        looked(&[&file(at), &file(0)], &limits);
    }
    let kept = footers.len();
    assert!((2..100).contains(&kept), "{kept} are kept");
    let hits = footers.hits();
    looked(&[&file(0), &file(99), &file(98)], &limits);
    assert_eq!(footers.hits(), hits + 3);
    looked(&[&file(1)], &limits);
    assert_eq!((footers.hits(), footers.len()), (hits + 3, kept));
    footers.limit(5 << 20);
    assert!(footers.len() < kept && !footers.is_empty());
    footers.limit(1 << 10);
    assert!(footers.is_empty());
    looked(&[&file(0)], &limits);
    assert!(footers.is_empty(), "there is no room for it");
}

#[test]
fn files_whose_types_differ_are_read_as_the_wider_one() {
    let directory = Directory::new("wider");
    let (narrow, wide) = (directory.file("a.parquet"), directory.file("b.parquet"));
    std::fs::write(&narrow, parquet(0..100)).expect("it is written");
    let numbers: ArrayRef = Arc::new(arrow_array::Int64Array::from_iter_values([1_i64 << 40, 7]));
    let batch = RecordBatch::try_from_iter([("n", numbers)]).expect("a batch");
    let mut writer =
        ArrowWriter::try_new(File::create(&wide).expect("a file"), batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("it is written");
    writer.close().expect("it is closed");
    let (footers, limits) = keeping(Duration::ZERO);
    for _ in 0..2 {
        let both = looked(&[&narrow, &wide], &limits);
        assert_eq!(both, (102, Some((0, 1 << 40))));
        assert_eq!(looked(&[&narrow], &limits), (100, Some((0, 99))));
    }
    assert_eq!(footers.hits(), 4);
}
