//! Runs statements and shows what they give.

use crate::complaint::Complaint;
use crate::copying::{CopyRole, is_to_client, role};
use crate::output::{self, Display, Mode, Streamed};
use crate::shell::Shell;
use crate::{interrupt, progress};
use frazil::{
    ColumnDef, ColumnVector, LogicalType, Outcome, RawValue as Value, Response, RowBatch, Rows, Schema,
};
use std::io::{self, Read, Write};
use std::sync::atomic::AtomicBool;

impl Shell {
    /// Runs a statement as it was typed: variables are put in, and it is the last one from now on.
    pub fn run_statement(&mut self, statement: &str) -> Result<(), Complaint> {
        let display = self.display.clone();
        self.run_statement_as(statement, &display)
    }

    /// The same with another display.
    pub fn run_statement_as(&mut self, statement: &str, display: &Display) -> Result<(), Complaint> {
        let text = self.variables.expand(statement);
        self.last = Some(statement.to_owned());
        match role(&text) {
            Some(CopyRole::Source) => {
                self.copying = Some(text);
                return Ok(());
            }
            Some(CopyRole::Target) => return self.run_copy(&text, None),
            None => {}
        }
        let display = &self.on_output(display);
        let values = self.bound.take().unwrap_or_default();
        let result = match display.mode.is_streamed() || display.max_rows.is_some() {
            true => self.stream(&text, &values, display),
            false => self.show_whole(&text, &values, display),
        };
        self.note(&result);
        self.show_costs(&result?);
        Ok(())
    }

    /// A display as it is where results go: only a person's screen is short and narrow.
    fn on_output(&self, display: &Display) -> Display {
        let mut display = display.clone();
        if !self.output.is_stdout() {
            display.max_rows = None;
            display.terminal = None;
        }
        display
    }

    /// Runs a statement as it was typed and shows what `change` makes of its rows, NULL as nothing unless a text for it was
    /// set: there it stands for a cell that no row has filled.
    pub fn run_statement_changed(
        &mut self,
        statement: &str,
        change: impl FnOnce(&Rows) -> Result<Rows, Complaint>,
    ) -> Result<(), Complaint> {
        let text = self.variables.expand(statement);
        self.last = Some(statement.to_owned());
        let result = self.query(&text);
        self.note(&result);
        let response = result?;
        let mut display = self.on_output(&self.display);
        display.max_rows = None;
        match &response.outcome {
            Outcome::Rows(rows) => {
                let changed = change(rows)?;
                display.null.get_or_insert_default();
                self.output.write(|out| output::write(out, &changed, &display))?;
            }
            Outcome::Command { .. } if self.tells_tags(&display) => {
                self.output.write(|out| show_tag(out, &response))?;
            }
            Outcome::Command { .. } => {}
        }
        self.show_costs(&response);
        Ok(())
    }

    /// Runs COPY; `rows`: those of FROM STDIN.
    pub fn run_copy(&mut self, text: &str, rows: Option<Box<dyn Read + Send>>) -> Result<(), Complaint> {
        let result = self.copy(text, rows);
        self.note(&result);
        let response = result?;
        // What is copied to standard output stands there alone.
        if self.tells_tags(&self.display) && !is_to_client(text) {
            self.output.write(|out| show_tag(out, &response))?;
        }
        self.show_costs(&response);
        Ok(())
    }

    /// Runs COPY between the shell and a file of this machine, where results go for this one time.
    pub fn run_file_copy(&mut self, text: &str, rows: Option<Box<dyn Read + Send>>) -> Result<(), Complaint> {
        let result = self.copy(text, rows);
        self.note(&result);
        let response = result?;
        if self.tells_tags(&self.display) {
            self.output.write(|out| show_tag(out, &response))?;
        }
        self.show_costs(&response);
        Ok(())
    }

    /// Runs a statement and gives what it gave.
    pub fn query(&mut self, statement: &str) -> Result<Response, Complaint> {
        let values = self.bound.take().unwrap_or_default();
        let run = || self.backend.execute(statement, &values);
        interrupt::cancelling(self.backend.canceler(), run)
            .map_err(|error| Complaint::from(error).of_statement(statement))
    }

    /// Rows of text that the shell has to tell, shown as a query's result.
    pub fn show_rows(&mut self, names: &[&str], rows: &[Vec<Value>]) -> Result<(), Complaint> {
        let columns = names.iter().enumerate().map(|(i, name)| {
            let cells = rows.iter().map(|row| &row[i]);
            let farthest = cells.max_by_key(|cell| cell.as_int().map(i128::unsigned_abs));
            let ty = farthest.map_or(Value::Null, Value::clone);
            ColumnDef::new(*name, LogicalType::of_value(&ty))
        });
        let schema = Schema::new(columns.collect());
        let vectors = schema.columns.iter().enumerate().map(|(i, column)| {
            let values: Vec<Value> = rows.iter().map(|row| row[i].clone()).collect();
            ColumnVector::from_values(column.ty, &values)
        });
        let batch = RowBatch {
            columns: vectors.collect(),
            rows: rows.len(),
        };
        let rows = Rows::new(schema.into(), vec![batch]);
        let display = Display {
            max_rows: None,
            ..self.on_output(&self.display)
        };
        self.output.write(|out| output::write(out, &rows, &display))?;
        Ok(())
    }

    /// Rows are written while they are computed, or counted beyond the most that are shown.
    fn stream(&mut self, text: &str, values: &[Value], display: &Display) -> Result<Response, Complaint> {
        let backend = &self.backend;
        let begun = AtomicBool::new(false);
        let tags = self.tells_tags(display);
        let mut given = None;
        self.output.write(|out| {
            let mut streamed = Streamed::new(out, display, &begun);
            let result = interrupt::cancelling(backend.canceler(), || {
                let run = || backend.execute_into(text, values, &mut streamed);
                progress::watching(backend.progress(), &begun, run)
            });
            let written = streamed.finish(result.is_ok());
            let has_rows = *written.as_ref().unwrap_or(&true);
            if let (Ok(response), false, true) = (&result, has_rows, tags) {
                show_tag(out, response)?;
            }
            // What could not be written is told, not that the statement failed by it.
            if written.is_ok() {
                given = Some(result);
            }
            written.map(drop)
        })?;
        match given {
            Some(result) => Ok(result.map_err(|error| Complaint::from(error).of_statement(text))?),
            None => Ok(Response::default()),
        }
    }

    fn show_whole(&mut self, text: &str, values: &[Value], display: &Display) -> Result<Response, Complaint> {
        let backend = &self.backend;
        let begun = AtomicBool::new(false);
        let tags = self.tells_tags(display);
        let response = interrupt::cancelling(backend.canceler(), || {
            progress::watching(backend.progress(), &begun, || backend.execute(text, values))
        })
        .map_err(|error| Complaint::from(error).of_statement(text))?;
        match &response.outcome {
            Outcome::Rows(rows) => drop(self.output.write(|out| output::write(out, rows, display))?),
            Outcome::Command { .. } if tags => drop(self.output.write(|out| show_tag(out, &response))?),
            Outcome::Command { .. } => {}
        }
        Ok(response)
    }

    /// Whether it is said that a command was done: where people read, not programs.
    fn tells_tags(&self, display: &Display) -> bool {
        let is_table = matches!(
            display.mode,
            Mode::Aligned | Mode::Box | Mode::Table | Mode::Unaligned
        );
        is_table && !self.quiet
    }

    /// Tells what a statement has to say beside its result, and keeps what happened in variables, as psql does.
    fn note(&mut self, result: &Result<Response, Complaint>) {
        for notice in result.iter().flat_map(|response| &response.notices) {
            eprintln!("{notice}");
        }
        for heard in self.backend.notifications() {
            let payload = match heard.payload.as_str() {
                "" => String::new(),
                payload => format!(" with payload \"{payload}\""),
            };
            eprintln!(
                "Notification \"{}\"{payload} from session {}",
                heard.channel, heard.session
            );
        }
        let (error, state, rows) = match result {
            Ok(response) => ("false", "00000".to_owned(), count(response)),
            Err(complaint) => ("true", complaint.state().to_string(), 0),
        };
        self.variables.set("ERROR", error);
        self.variables.set("SQLSTATE", state);
        self.variables.set("ROW_COUNT", rows.to_string());
    }

    fn show_costs(&self, response: &Response) {
        if self.timing {
            let t = &response.timing;
            let ms = |d: std::time::Duration| d.as_secs_f64() * 1e3;
            match self.backend.embedded() {
                // A server tells no parts.
                None => eprintln!("Time: {:.3} ms", ms(t.total())),
                Some(_) => eprintln!(
                    "Time: {:.3} ms (plan {:.3}, compile {:.3}, execute {:.3})",
                    ms(t.total()),
                    ms(t.plan()),
                    ms(t.compile),
                    ms(t.execute)
                ),
            }
        }
        if self.stats {
            eprintln!("Rows: {}", count(response));
            if let Some(kib) = most_memory() {
                eprintln!("Most memory so far: {kib} KiB");
            }
        }
    }
}

/// Rows that a statement gave or changed.
fn count(response: &Response) -> u64 {
    match &response.outcome {
        Outcome::Rows(rows) => rows.len() as u64,
        Outcome::Command { rows, .. } => rows.unwrap_or(0),
    }
}

/// The most memory that the process has had, in KiB, where the system tells.
fn most_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

fn show_tag(out: &mut dyn Write, response: &Response) -> io::Result<()> {
    match &response.outcome {
        Outcome::Command { tag: "", .. } | Outcome::Rows(_) => Ok(()),
        Outcome::Command { tag, rows: None } => writeln!(out, "{tag}"),
        Outcome::Command {
            tag,
            rows: Some(rows),
        } => writeln!(out, "{tag} {rows}"),
    }
}
