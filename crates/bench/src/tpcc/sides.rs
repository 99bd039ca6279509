//! Databases of Frazil that the experiment measures.

use frazil::{Connection, Database};
use frazil_tpcc::{Engine, FrazilEngine, Population, TABLES, Table, load};
use frazil_types::Result;
use std::path::Path;

/// The state of a database's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// All are hot, and stay so.
    Hot,
    /// Orders and their lines are frozen, and chunks that become full freeze in the background.
    ColdFrozen,
    /// All tables are frozen.
    AllFrozen,
}

/// Tables whose rows become cold.
const COLD: [Table; 3] = [Table::NewOrder, Table::Orders, Table::OrderLine];

impl Rows {
    fn prepare(self, connection: &Connection) -> Result<()> {
        let frozen: &[Table] = match self {
            Rows::Hot => &[],
            Rows::ColdFrozen => &COLD,
            Rows::AllFrozen => &TABLES,
        };
        let cooling = match self {
            Rows::Hot | Rows::AllFrozen => "off",
            Rows::ColdFrozen => "1s",
        };
        connection.execute(&format!("set frazil.freeze_after = '{cooling}'"))?;
        for table in frozen {
            connection.execute(&format!("freeze table {}", table.name()))?;
        }
        Ok(())
    }
}

/// A database in memory.
pub fn database_in_memory(population: &Population, rows: Rows) -> Result<Database> {
    filled(Database::memory()?, population, rows)
}

/// A database in a directory, whose rows are hot until background work freezes them.
pub fn database_in_directory(population: &Population, directory: &Path) -> Result<Database> {
    let database = filled(Database::open(directory)?, population, Rows::Hot)?;
    database.checkpoint()?;
    Ok(database)
}

/// The sessions of a database in memory.
pub fn frazil_in_memory(population: &Population, rows: Rows) -> Result<Box<dyn Engine>> {
    Ok(Box::new(FrazilEngine::new(&database_in_memory(
        population, rows,
    )?)))
}

/// The sessions of a database in a directory.
pub fn frazil_in_directory(population: &Population, directory: &Path) -> Result<Box<dyn Engine>> {
    Ok(Box::new(FrazilEngine::new(&database_in_directory(
        population, directory,
    )?)))
}

/// Fills a database, whose rows are then in a state.
pub fn filled(database: Database, population: &Population, rows: Rows) -> Result<Database> {
    let connection = database.connect();
    // Chunks would otherwise freeze while tables are loaded.
    connection.execute("set frazil.freeze_after = off")?;
    load(&connection, population, &mut |_| Ok(()))?;
    rows.prepare(&connection)?;
    Ok(database)
}
