//! Where results go: standard output, through a pager at a terminal, a file, or another program.

use crate::interrupt;
use crate::pager::Paged;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A place for results.
pub enum Target {
    /// Standard output.
    Stdout,
    /// A file, with its path.
    File(BufWriter<File>, PathBuf),
    /// Standard input of another program.
    Program(Child),
}

/// The place for results now, and for the next one alone.
pub struct Output {
    standing: Target,
    once: Option<Target>,
    /// Whether long results at a terminal go through a pager.
    pub pages: bool,
}

impl Target {
    /// The place that an argument names: `|program` or a file; standard output without one.
    pub fn named(argument: Option<&str>) -> io::Result<Target> {
        match argument {
            None | Some("" | "stdout") => Ok(Target::Stdout),
            Some(text) => match text.strip_prefix('|') {
                Some(program) => {
                    let mut shell = Command::new("sh");
                    shell.arg("-c").arg(program).stdin(Stdio::piped());
                    Ok(Target::Program(shell.spawn()?))
                }
                None => Target::file(Path::new(text)),
            },
        }
    }

    /// A file, made anew.
    pub fn file(path: &Path) -> io::Result<Target> {
        Ok(Target::File(
            BufWriter::new(File::create(path)?),
            path.to_path_buf(),
        ))
    }

    fn write<T>(
        &mut self,
        pages: bool,
        work: impl FnOnce(&mut dyn Write) -> io::Result<T>,
    ) -> io::Result<Option<T>> {
        match self {
            Target::File(file, path) => {
                let done = work(file).and_then(|done| file.flush().map(|()| done));
                let named = |e: io::Error| {
                    io::Error::new(e.kind(), format!("could not write \"{}\": {e}", path.display()))
                };
                done.map(Some).map_err(named)
            }
            Target::Program(child) => {
                let Some(input) = &mut child.stdin else {
                    return Ok(None);
                };
                let mut input = BufWriter::new(input);
                closed_pipe_is_fine(work(&mut input).and_then(|done| input.flush().map(|()| done)))
            }
            Target::Stdout if pages => {
                let mut paged = Paged::new();
                let done = work(&mut paged);
                let shown = paged.finish();
                closed_pipe_is_fine(done.and_then(|done| shown.map(|()| done)))
            }
            Target::Stdout => {
                let mut out = BufWriter::new(io::stdout().lock());
                closed_pipe_is_fine(work(&mut out).and_then(|done| out.flush().map(|()| done)))
            }
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Target::Program(child) = self {
            drop(child.stdin.take());
            // How the other program ends is its own affair.
            let _ = interrupt::waiting(|| child.wait());
        }
    }
}

impl Output {
    /// Standard output without a pager.
    pub fn new() -> Output {
        Output {
            standing: Target::Stdout,
            once: None,
            pages: false,
        }
    }

    /// Sends all that follows to `target`.
    pub fn redirect(&mut self, target: Target) {
        self.standing = target;
        self.once = None;
    }

    /// Sends the next result to `target`.
    pub fn redirect_once(&mut self, target: Target) {
        self.once = Some(target);
    }

    /// Whether results go to standard output.
    pub fn is_stdout(&self) -> bool {
        matches!(self.once.as_ref().unwrap_or(&self.standing), Target::Stdout)
    }

    /// Lets `work` write one result. `None` if the reader had seen enough before its end.
    pub fn write<T>(&mut self, work: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> io::Result<Option<T>> {
        match self.once.take() {
            Some(mut target) => target.write(self.pages, work),
            None => self.standing.write(self.pages, work),
        }
    }

    /// Writes a line.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        self.write(|out| writeln!(out, "{text}")).map(drop)
    }
}

/// A reader such as `head` that has seen enough is no error.
fn closed_pipe_is_fine<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(done) => Ok(Some(done)),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(None),
        Err(error) => Err(error),
    }
}
