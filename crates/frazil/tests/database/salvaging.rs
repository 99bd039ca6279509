//! Files of tables are damaged, and the directory is salvaged: every whole column of every whole block is there, of
//! all others it is told what is left out. `FRAZIL_DAMAGE_SEEDS=5000` damages more often.

use crate::rows;
use frazil::{Access, Connection, Database, Opening};
use frazil_block::{Block, BlockBytes};
use frazil_durability::manifest::{Manifest, TableRecord};
use frazil_testkit::{Random, SimVfs};
use frazil_vfs::Vfs;
use std::path::{Path, PathBuf};

const TABLES: usize = 8;

/// Rows of a table, each as its cells.
type Cells = Vec<Vec<String>>;

/// A database whose tables have a block each, in several segments.
struct Whole {
    sim: SimVfs,
    manifest: Manifest,
    /// The rows of each table, without and with the ones that were deleted.
    tables: Vec<(Cells, Cells)>,
}

fn cells(c: &Connection, table: usize) -> Cells {
    let text = rows(c, &format!("select * from t{table}"));
    let lines = text.lines();
    lines
        .map(|line| line.split('|').map(str::to_string).collect())
        .collect()
}

fn manifest(sim: &SimVfs) -> Manifest {
    let path = Path::new("/db/manifest");
    Manifest::from_bytes(path, &sim.read(path).expect("it is there")).expect("it is whole")
}

fn whole() -> Whole {
    let sim = SimVfs::new(1);
    let database = Database::open_over(sim.vfs(), Path::new("/db")).expect("it opens");
    let c = database.connect();
    rows(
        &c,
        "set threads = 1; set frazil.freeze_after = off; set max_wal_size = off",
    );
    let mut tables = Vec::new();
    for n in 0..TABLES {
        let key = if n % 2 == 0 { "primary key" } else { "" };
        rows(
            &c,
            &format!(
                "create table t{n} (k integer {key}, s text not null, d decimal(12, 2), b double precision, i interval)"
            ),
        );
        rows(
            &c,
            &format!(
                "insert into t{n} select k, repeat('text ', k % 5) || k % 40, k * 1.25, k / 7.0, k % 3 * interval '1 hour' \
                 from generate_series(1, 400) k; freeze t{n}"
            ),
        );
        let all = cells(&c, n);
        if n % 3 == 1 {
            rows(&c, &format!("delete from t{n} where k % 10 = 3"));
        }
        tables.push((cells(&c, n), all));
        if n % 2 == 1 {
            rows(&c, "checkpoint");
        }
    }
    drop(c);
    database.close().expect("it closes");
    let manifest = manifest(&sim);
    Whole {
        sim,
        manifest,
        tables,
    }
}

/// CRC-32C, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg());
    !bytes
        .iter()
        .fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

fn segment(number: u64) -> PathBuf {
    PathBuf::from(format!("/db/segments/{number:08}.seg"))
}

/// Damages bytes from the first that counts on; says how.
fn damage(random: &mut Random, bytes: &mut Vec<u8>) -> String {
    let at = random.index(bytes.len());
    match random.below(10) {
        0..7 => {
            let bit = random.below(8);
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at} is flipped")
        }
        7 | 8 => {
            let end = (at + 512).min(bytes.len());
            bytes[at..end].fill(0xa5);
            format!("512 bytes at {at} are others")
        }
        _ => {
            bytes.truncate(at);
            format!("{at} bytes are left")
        }
    }
}

/// The rows that must be there of a table: `None` if its block cannot be opened.
fn expected(sim: &SimVfs, record: &TableRecord, (live, all): &(Cells, Cells)) -> Option<Cells> {
    let [chunk] = &record.chunks[..] else {
        panic!("{:?}", record.chunks)
    };
    let bytes = |segment_number: u64, offset: u64, length: u64| {
        let file = sim.read(&segment(segment_number)).expect("it is there");
        let is_whole =
            file.starts_with(b"frazil segment 1: Data Blocks, each at a multiple of 64 bytes.\n\0");
        let end = (offset + length) as usize;
        (is_whole && end <= file.len()).then(|| file[offset as usize..end].to_vec())
    };
    let place = chunk.block;
    let block = Block::open(BlockBytes::copy_of(&bytes(
        place.segment,
        place.offset,
        place.bytes,
    )?))
    .ok()?;
    let mut rows = match chunk.deleted {
        Some((marks, crc)) => match bytes(marks.segment, marks.offset, marks.bytes) {
            Some(found) if crc32c(&found) == crc => live.clone(),
            _ => all.clone(),
        },
        None => live.clone(),
    };
    for column in (0..block.columns()).filter(|column| block.touch(*column).is_err()) {
        rows.iter_mut().for_each(|row| row[column].clear());
    }
    Some(rows)
}

#[test]
fn what_is_whole_is_salvaged_and_what_is_not_is_told() {
    let seeds = std::env::var("FRAZIL_DAMAGE_SEEDS")
        .ok()
        .and_then(|n| n.parse().ok());
    let Whole {
        sim: sound,
        manifest,
        tables,
    } = whole();
    let directory = Path::new("/db/segments");
    let names = sound.list(directory).expect("it is there");
    assert!(names.len() > 2, "{names:?}");
    let (mut lost, mut partly, mut right) = (0, 0, 0);
    for seed in 1..=seeds.unwrap_or(200) {
        let mut random = Random::new(seed);
        let sim = sound.copy(seed);
        let file = directory.join(&names[random.index(names.len())]);
        let mut how = String::new();
        sim.tamper(&file, |bytes| how = damage(&mut random, bytes));
        let what = format!("seed {seed}, {}: {how}", file.display());
        let opening = Opening {
            salvages: true,
            ..Opening::to(Access::Read)
        };
        let opened = Database::open_over_as(sim.vfs(), Path::new("/db"), &opening);
        let database = opened.unwrap_or_else(|e| panic!("{what}: {e:?}"));
        let c = database.connect();
        rows(&c, "set threads = 1");
        for (n, table) in tables.iter().enumerate() {
            let name = format!("t{n}");
            let record = manifest.tables.iter().find(|record| record.entry.name == name);
            let expected = expected(&sim, record.expect("it is there"), table);
            let found = cells(&c, n);
            let is_told = database
                .losses()
                .iter()
                .any(|loss| loss.table.as_deref() == Some(&name));
            let is_whole = expected.as_ref() == Some(&table.0);
            assert_eq!(
                found,
                expected.clone().unwrap_or_default(),
                "{what}: {name}, {:?}",
                database.losses()
            );
            assert_eq!(is_told, !is_whole, "{what}: {name}: {:?}", database.losses());
            match expected {
                None => lost += 1,
                Some(_) if is_whole => right += 1,
                Some(_) => partly += 1,
            }
        }
    }
    println!("{lost} tables lost, {partly} partly, {right} right");
    assert!(lost > 10 && partly > 20 && right > 500, "{lost} {partly} {right}");
}
