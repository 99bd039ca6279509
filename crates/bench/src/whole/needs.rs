//! The memory and disk that `bench all` needs, so that a scale which does not fit is refused before the start.

use crate::io_errors::io_error;
use frazil_types::{Error, Result, SqlState};
use frazil_vfs::{SystemVfs, Vfs};
use std::fs;

const GIB: f64 = (1 << 30) as f64;
/// Memory of `lookup_table` at scale factor 1, in GiB: its table of 15 M rows is hot and in blocks. Greater scale
/// factors do not make it larger.
const LOOKUP_MEMORY: f64 = 9.0;
/// Memory of the experiments on TPC-H, in GiB a scale factor: its tables are hot and in blocks, and held in several
/// ways at a time.
const TPCH_MEMORY: f64 = 4.0;
/// Memory of `wide`, in GiB a scale factor: 12 M rows of 34 columns, in six tables that freeze one after the other.
/// Peaks of 0.86 GiB at scale factor 0.05 and of 1.81 GiB at 0.15 were measured, 9.9 GiB at 1 by the line through both.
const WIDE_MEMORY: f64 = 10.0;
/// Bytes in temporary files, in GiB: directories of TPC-C, and TPC-H as CSV and in blocks, a scale factor.
const TPCC_DISK: f64 = 1.0;
const TPCH_DISK: f64 = 3.0;

/// Bytes that are there; `None` if the system does not tell.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    memory: Option<u64>,
    disk: Option<u64>,
}

impl Room {
    /// The memory that is available, and the space for temporary files. 58030 if the directory of these cannot be
    /// read.
    pub fn look() -> Result<Room> {
        let directory = std::env::temp_dir();
        let space = SystemVfs::default().space(&directory);
        Ok(Room {
            memory: available_memory(),
            disk: Some(space.map_err(|e| io_error(format!("cannot look into {}", directory.display()), &e))?),
        })
    }

    /// 53200 if the experiments at a scale factor need more memory than there is, 53100 for space on the disk.
    pub fn check(self, scale_factor: f64) -> Result<()> {
        let growing = TPCH_MEMORY.max(WIDE_MEMORY) * scale_factor;
        let memory = growing.max(LOOKUP_MEMORY * scale_factor.min(1.0));
        let disk = TPCC_DISK + TPCH_DISK * scale_factor;
        let needs = [
            (memory, self.memory, "memory", SqlState::OUT_OF_MEMORY),
            (disk, self.disk, "space for temporary files", SqlState::DISK_FULL),
        ];
        for (needed, there, what, state) in needs {
            let Some(there) = there
                .map(|bytes| bytes as f64 / GIB)
                .filter(|there| *there < needed)
            else {
                continue;
            };
            let message = format!(
                "bench all at scale factor {scale_factor} needs about {needed:.0} GiB of {what}, and {there:.1} GiB \
                 are there"
            );
            return Err(Error::new(state, message).with_hint("take a smaller --scale-factor, or --quick"));
        }
        Ok(())
    }
}

/// Bytes of memory that programs can take without others being swapped out.
fn available_memory() -> Option<u64> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_that_does_not_fit_is_refused_with_what_it_needs() {
        let gib = |count: u64| Some(count << 30);
        let check = |memory, disk, scale| {
            let refused = Room { memory, disk }.check(scale);
            refused.map_err(|e| (e.state(), e.message().to_owned()))
        };
        assert_eq!(check(gib(10), gib(10), 1.0), Ok(()));
        assert_eq!(check(gib(1), gib(2), 0.01), Ok(()));
        assert_eq!(check(None, None, 1000.0), Ok(()));
        // TPC-H alone would fit, the wide table does not.
        assert_eq!(
            check(gib(10), gib(10), 2.0).map_err(|e| e.0),
            Err(SqlState::OUT_OF_MEMORY)
        );
        assert_eq!(check(gib(20), gib(10), 2.0), Ok(()));
        let (state, message) = check(gib(20), gib(1000), 100.0).expect_err("it needs more");
        assert_eq!(state, SqlState::OUT_OF_MEMORY);
        assert!(
            message.contains("about 1000 GiB of memory, and 20.0 GiB are there"),
            "{message}"
        );
        let (state, message) = check(gib(2000), gib(20), 100.0).expect_err("it needs more");
        assert_eq!(state, SqlState::DISK_FULL);
        assert!(message.contains("about 301 GiB of space"), "{message}");
        assert_eq!(
            check(gib(8), None, 1.0).map_err(|e| e.0),
            Err(SqlState::OUT_OF_MEMORY)
        );
        Room::look().expect("there is a directory for temporary files");
    }
}
