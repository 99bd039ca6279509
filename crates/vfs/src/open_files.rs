//! The number of files that this process may have open.
//!
//! Each open copy of a file elsewhere holds a lock that keeps other processes from removing it, and the lock ends with
//! the copy's descriptor. So a reader of a published snapshot has a descriptor for each segment. A shell's soft limit
//! is 1,024 descriptors, some 60 GB of segments, while the hard limit is 524,288 on most systems. The soft limit is
//! that low for programs that wait with `select`, which takes no greater descriptors.
//!
//! So copies raise the soft limit to the hard one, but only when they come near it: a program that embeds the database
//! and reads little keeps its own limit. Closing descriptors of copies that were not read for a while would need no
//! limit, but then other processes remove copies that are mapped here, and their bytes are fetched again.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// The most descriptors that macOS takes for a limit, whatever it says of the hard one.
const MOST_ON_MACOS: libc::rlim_t = 10_240;

/// Opens a file that stays open for long, and leaves half of the limit to other files if the hard limit allows it.
pub(crate) fn with_room(open: impl Fn() -> io::Result<File>) -> io::Result<File> {
    let file = match open() {
        Err(e) if e.raw_os_error() == Some(libc::EMFILE) => {
            raise_limit();
            open()?
        }
        opened => opened?,
    };
    // The system gives the least number that is free, so it tells how many files are open.
    let used = libc::rlim_t::try_from(file.as_raw_fd()).unwrap_or_default();
    if limit().is_some_and(|limit| used >= limit.rlim_cur / 2) {
        raise_limit();
    }
    Ok(file)
}

/// The soft and the hard limit; `None` if the system does not tell them.
fn limit() -> Option<libc::rlimit> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the call writes the limits to a struct of its type that lives until it returns.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    (result == 0).then_some(limit)
}

/// Raises the soft limit to the hard one, or as far as the system lets it be raised.
fn raise_limit() {
    let Some(limit) = limit().filter(|limit| limit.rlim_cur < limit.rlim_max) else {
        return;
    };
    for most in [limit.rlim_max, limit.rlim_max.min(MOST_ON_MACOS)] {
        let raised = libc::rlimit {
            rlim_cur: most.max(limit.rlim_cur),
            ..limit
        };
        // SAFETY: the call reads a struct of its type that lives until it returns.
        if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raised) } == 0 {
            return;
        }
    }
}
