//! A progress bar on standard error for statements that take more than a second.

use frazil::Connection;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long nothing is shown.
pub const PATIENCE: Duration = Duration::from_secs(1);
const REDRAW: Duration = Duration::from_millis(100);
/// The share of the work, one in so many, that is done before it is said how long the rest takes.
const KNOWN: u64 = 20;

/// Runs `work`, a statement on `connection`, and shows how far it is once it takes long, until `hidden` is set.
pub fn watching<T>(connection: &Connection, hidden: &AtomicBool, work: impl FnOnce() -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work();
    }
    let (done, finished) = channel::<()>();
    let started = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut wait = PATIENCE;
            let mut bar: Option<ProgressBar> = None;
            while finished.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = REDRAW;
                if hidden.load(Ordering::Relaxed) {
                    break;
                }
                let progress = connection.progress();
                let bar = bar.get_or_insert_with(new_bar);
                bar.set_length(progress.total());
                bar.set_position(progress.done());
                let left = remaining(started.elapsed(), progress.done(), progress.total());
                let parts = [progress.phase(), left.map_or(String::new(), in_words)];
                let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                bar.set_message(parts.join(", "));
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// How long the rest takes if it goes as what is done; `None` while too little is done to tell, or nothing is left.
fn remaining(elapsed: Duration, done: u64, total: u64) -> Option<Duration> {
    let is_known = done > 0 && done < total && done >= total / KNOWN;
    is_known.then(|| elapsed.mul_f64((total - done) as f64 / done as f64))
}

/// `about 12 s left`.
fn in_words(left: Duration) -> String {
    match left.as_secs() + 1 {
        seconds @ ..=90 => format!("about {seconds} s left"),
        seconds @ ..=5400 => format!("about {} min left", seconds.div_ceil(60)),
        seconds => format!("about {} h left", seconds.div_ceil(3600)),
    }
}

/// A bar of nothing yet.
pub fn new_bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    // The template is a constant, so it parses.
    if let Ok(style) = ProgressStyle::with_template("{elapsed:>4} [{bar:40}] {percent:>3}% {msg}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_taken_to_go_as_what_is_done() {
        let second = Duration::from_secs(1);
        assert_eq!(remaining(10 * second, 25, 100), Some(30 * second));
        for (done, total) in [(0, 0), (0, 100), (4, 100), (100, 100), (120, 100)] {
            assert_eq!(remaining(second, done, total), None);
        }
    }

    #[test]
    fn times_are_told_roughly() {
        let told = [0, 89, 90, 3600, 7200].map(|seconds| in_words(Duration::from_secs(seconds)));
        let wanted = ["1 s", "90 s", "2 min", "61 min", "3 h"].map(|time| format!("about {time} left"));
        assert_eq!(told, wanted);
    }
}
