//! A progress bar on standard error for statements that take more than a second.

use frazil::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long nothing is shown.
pub const PATIENCE: Duration = Duration::from_secs(1);
const REDRAW: Duration = Duration::from_millis(100);

/// Runs `work`, a statement, and shows its `progress` once it takes long, until `hidden` is set. Shows nothing without
/// a progress.
pub fn watching<T>(progress: Option<&Progress>, hidden: &AtomicBool, work: impl FnOnce() -> T) -> T {
    let Some(progress) = progress.filter(|_| std::io::stderr().is_terminal()) else {
        return work();
    };
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
                let bar = bar.get_or_insert_with(new_bar);
                bar.set_length(progress.total());
                bar.set_position(progress.done());
                let parts = [Some(progress.phase()), progress.left(started.elapsed())];
                let parts: Vec<String> = parts
                    .into_iter()
                    .flatten()
                    .filter(|part| !part.is_empty())
                    .collect();
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

/// A bar of nothing yet.
pub fn new_bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    // The template is a constant, so it parses.
    if let Ok(style) = ProgressStyle::with_template("{elapsed:>4} [{bar:40}] {percent:>3}% {msg}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}
