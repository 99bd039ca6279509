//! The limit of files that a process may have open, of which each client of a server takes one.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Files beside those of the clients: of the database, and of programs that look at the server.
const OTHERS: u64 = 512;

/// Raises the limit of open files for a number of clients, as far as the system lets it. Returns a
/// warning if that is not enough.
pub fn allow(clients: u16) -> Option<String> {
    let wanted = u64::from(clients) + OTHERS;
    let (now, most) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    if now >= wanted {
        return None;
    }
    let raised = wanted.min(most);
    let has_raised = setrlimit(Resource::RLIMIT_NOFILE, raised, most).is_ok();
    let allowed = if has_raised { raised } else { now };
    (allowed < wanted).then(|| {
        format!(
            "the system allows {allowed} open files, too few for {clients} clients: raise the hard limit \
             (ulimit -H -n, LimitNOFILE), or lower --max-connections"
        )
    })
}
