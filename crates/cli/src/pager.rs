//! A pager for what is longer than the terminal. What fits is written as it is.

use crate::interrupt;
use console::Term;
use std::io::{self, Write};
use std::process::{Child, Command, Stdio};

/// Options of `less` unless somebody has set others: colours, no wrapping, and nothing cleared at the end.
const LESS: &str = "RSX";

/// Holds a screenful; starts the pager when there is more.
pub struct Paged {
    /// Lines of the terminal.
    room: usize,
    held: Vec<u8>,
    lines: usize,
    pager: Option<Child>,
    /// Set where no pager could be started.
    is_plain: bool,
}

impl Paged {
    /// Nothing written yet.
    pub fn new() -> Paged {
        Paged {
            room: usize::from(Term::stdout().size().0),
            held: Vec::new(),
            lines: 0,
            pager: None,
            is_plain: false,
        }
    }

    /// Shows what is held, or waits until the pager is left.
    pub fn finish(mut self) -> io::Result<()> {
        match self.pager.take() {
            Some(mut pager) => {
                drop(pager.stdin.take());
                interrupt::waiting(|| pager.wait()).map(drop)
            }
            None => {
                let mut out = io::stdout().lock();
                out.write_all(&self.held)?;
                out.flush()
            }
        }
    }

    fn start(&mut self) -> io::Result<()> {
        match pager().and_then(|mut command| command.spawn().ok()) {
            Some(child) => self.pager = Some(child),
            None => self.is_plain = true,
        }
        let held = std::mem::take(&mut self.held);
        self.write_all(&held)
    }
}

/// The program that FRAZIL_PAGER or PAGER names, else `less`; `None` where a variable says that there be none.
fn pager() -> Option<Command> {
    let named = ["FRAZIL_PAGER", "PAGER"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok());
    let program = named.unwrap_or_else(|| "less".to_owned());
    if program.trim().is_empty() {
        return None;
    }
    let mut command = Command::new("sh");
    command.arg("-c").arg(&program).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", LESS);
    }
    Some(command)
}

impl Write for Paged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_plain {
            return io::stdout().lock().write(bytes);
        }
        if let Some(pager) = &mut self.pager {
            return match &mut pager.stdin {
                Some(input) => input.write(bytes),
                None => Err(io::ErrorKind::BrokenPipe.into()),
            };
        }
        self.held.extend_from_slice(bytes);
        self.lines += bytes.iter().filter(|b| **b == b'\n').count();
        if self.lines >= self.room {
            self.start()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
