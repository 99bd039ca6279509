//! The catalog: names, ids, schemas and options of tables, as immutable versions. A statement reads
//! one version from its first name to its last row; creating or dropping a table makes the next one.
#![forbid(unsafe_code)]

mod table_options;

use frazil_types::{Error, Result, Schema, SqlState};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
pub use table_options::TableOptions;

/// The identity of a table: never reused, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(pub u64);

/// A table as the catalog knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct TableEntry {
    /// Its identity.
    pub id: TableId,
    /// Its name, folded to lower case unless it was quoted.
    pub name: String,
    /// Its columns.
    pub schema: Arc<Schema>,
    /// How its rows are held.
    pub options: TableOptions,
}

/// One immutable version of the catalog.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    version: u64,
    /// The greatest version ever made of it, rolled back ones included: its versions share this.
    last_version: Arc<AtomicU64>,
    last_id: u64,
    by_name: BTreeMap<String, Arc<TableEntry>>,
}

impl Catalog {
    /// A catalog without tables.
    pub fn new() -> Catalog {
        Catalog::default()
    }

    /// The catalog a directory was closed with.
    pub fn restore(version: u64, last_id: u64, tables: Vec<TableEntry>) -> Catalog {
        Catalog {
            version,
            last_version: Arc::new(AtomicU64::new(version)),
            last_id: tables.iter().map(|t| t.id.0).max().unwrap_or(0).max(last_id),
            by_name: tables
                .into_iter()
                .map(|t| (t.name.clone(), Arc::new(t)))
                .collect(),
        }
    }

    /// Grows with each change: plans made for one version may not fit another. A number is never used again, though the
    /// transaction that made the version was rolled back.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The greatest id ever given.
    pub fn last_id(&self) -> u64 {
        self.last_id
    }

    /// The tables, by name.
    pub fn tables(&self) -> impl Iterator<Item = &Arc<TableEntry>> {
        self.by_name.values()
    }

    /// A table by its name, if there is one.
    pub fn find(&self, name: &str) -> Option<&Arc<TableEntry>> {
        self.by_name.get(name)
    }

    /// A table by its name; 42P01 with the nearest name if there is none.
    pub fn table(&self, name: &str) -> Result<&Arc<TableEntry>> {
        self.find(name).ok_or_else(|| {
            let error = Error::new(
                SqlState::UNDEFINED_TABLE,
                format!("table \"{name}\" does not exist"),
            );
            match nearest(name, self.by_name.keys().map(String::as_str)) {
                Some(near) => error.with_hint(format!("did you mean \"{near}\"?")),
                None => error,
            }
        })
    }

    /// A table by its identity.
    pub fn table_by_id(&self, id: TableId) -> Option<&Arc<TableEntry>> {
        self.by_name.values().find(|t| t.id == id)
    }

    /// The same under a new number.
    fn next(&self) -> Catalog {
        Catalog {
            version: 1 + self.last_version.fetch_add(1, Ordering::Relaxed),
            ..self.clone()
        }
    }

    /// The next version, with one more table; 42P07 if the name is taken, 42701 if a column name is used twice.
    pub fn create_table(
        &self,
        name: &str,
        schema: Arc<Schema>,
        options: TableOptions,
    ) -> Result<(Catalog, Arc<TableEntry>)> {
        if self.by_name.contains_key(name) {
            return Err(Error::new(
                SqlState::DUPLICATE_TABLE,
                format!("table \"{name}\" already exists"),
            ));
        }
        for (i, column) in schema.columns.iter().enumerate() {
            if schema.columns[..i].iter().any(|c| c.name == column.name) {
                return Err(Error::new(
                    SqlState::DUPLICATE_COLUMN,
                    format!("column \"{}\" is named more than once", column.name),
                ));
            }
        }
        let mut next = self.next();
        next.last_id += 1;
        let entry = Arc::new(TableEntry {
            id: TableId(next.last_id),
            name: name.to_string(),
            schema,
            options,
        });
        next.by_name.insert(name.to_string(), entry.clone());
        Ok((next, entry))
    }

    /// The next version, with other options of a table, which stays the same table; 42P01 if there is none of that name.
    pub fn set_options(&self, name: &str, options: TableOptions) -> Result<(Catalog, Arc<TableEntry>)> {
        let mut entry = (**self.table(name)?).clone();
        entry.options = options;
        let entry = Arc::new(entry);
        let mut next = self.next();
        next.by_name.insert(name.to_string(), entry.clone());
        Ok((next, entry))
    }

    /// The next version, without a table; 42P01 if there is none of that name.
    pub fn drop_table(&self, name: &str) -> Result<(Catalog, Arc<TableEntry>)> {
        let entry = self.table(name)?.clone();
        let mut next = self.next();
        next.by_name.remove(name);
        Ok((next, entry))
    }
}

/// The candidate that differs least from `name`, if any comes near: what a message proposes.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|c| (edit_distance(name, c), c))
        .filter(|&(d, c)| d <= 1 + name.len().max(c.len()) / 4)
        .min_by_key(|&(d, _)| d)
        .map(|(_, c)| c)
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::{ColumnDef, LogicalType};

    fn schema() -> Arc<Schema> {
        Arc::new(Schema::new(vec![ColumnDef::new("a", LogicalType::Integer)]))
    }

    #[test]
    fn versions_are_immutable_and_ids_never_reused() {
        let empty = Catalog::new();
        let (one, t) = empty
            .create_table("lineitem", schema(), TableOptions::default())
            .unwrap();
        assert!(empty.find("lineitem").is_none());
        let (none, _) = one.drop_table("lineitem").unwrap();
        let (again, u) = none
            .create_table("lineitem", schema(), TableOptions::default())
            .unwrap();
        assert!(t.id != u.id && again.version() > one.version());
        assert_eq!(one.table("lineitem").unwrap().id, t.id);
        let options = TableOptions {
            pax_rows: 1,
            ..TableOptions::default()
        };
        let (changed, same) = one.set_options("lineitem", options).unwrap();
        assert!(same.id == t.id && same.options.pax_rows == 1 && changed.version() > one.version());
        assert_eq!(one.table("lineitem").unwrap().options, TableOptions::default());
    }

    #[test]
    fn the_number_of_a_version_is_not_used_again_after_a_rollback() {
        let empty = Catalog::new();
        let make = |name| {
            (empty.create_table(name, schema(), TableOptions::default()))
                .unwrap()
                .0
        };
        let (rolled_back, committed) = (make("t"), make("u"));
        assert!(committed.version() > rolled_back.version());
        let restored = Catalog::restore(committed.version(), 1, Vec::new());
        assert!(restored.drop_table("t").is_err());
        let next = restored.create_table("v", schema(), TableOptions::default());
        assert_eq!(next.unwrap().0.version(), committed.version() + 1);
    }

    #[test]
    fn an_unknown_table_names_its_neighbour() {
        let (c, _) = Catalog::new()
            .create_table("lineitem", schema(), TableOptions::default())
            .unwrap();
        let error = c.table("lineitme").unwrap_err();
        assert_eq!(error.state(), SqlState::UNDEFINED_TABLE);
        assert_eq!(error.hint(), Some("did you mean \"lineitem\"?"));
        let twice = c.create_table("lineitem", schema(), TableOptions::default());
        assert_eq!(twice.unwrap_err().state(), SqlState::DUPLICATE_TABLE);
    }
}
