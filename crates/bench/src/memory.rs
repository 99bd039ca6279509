//! The memory of the process, where the operating system tells: resident now, and the peak of a piece of work.

use std::fs;

/// File by which the process asks for a new peak.
const RESET: &str = "/proc/self/clear_refs";
/// The value that resets the peak to the memory that is resident.
const PEAK: &str = "5";

/// Runs `work`, and returns the bytes by which the peak of resident memory exceeded the memory before. `None` if the
/// system does not tell.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, Option<u64>) {
    let begun = fs::write(RESET, PEAK).ok().and_then(|()| resident());
    let done = work();
    let peak = begun.and_then(|begun| Some(line_of_status("VmHWM:")?.saturating_sub(begun)));
    (done, peak)
}

/// Bytes of memory that are resident. `None` if the system does not tell.
pub fn resident() -> Option<u64> {
    line_of_status("VmRSS:")
}

/// A line of the process's status, in bytes.
fn line_of_status(line: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let rest = status.lines().find_map(|l| l.strip_prefix(line))?;
    let kilobytes: u64 = rest.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}
