//! Statements on the table `t` of a model, and their text.

use super::{Cell, Key, Kind, Shape};

/// A statement.
#[derive(Clone, Debug)]
pub enum Statement {
    /// BEGIN.
    Begin,
    /// COMMIT.
    Commit,
    /// ROLLBACK.
    Rollback,
    /// SAVEPOINT of a name.
    Savepoint(&'static str),
    /// ROLLBACK TO a savepoint.
    RollbackTo(&'static str),
    /// RELEASE of a savepoint.
    Release(&'static str),
    /// FREEZE TABLE, which changes nothing that is seen.
    Freeze,
    /// TRUNCATE.
    Truncate,
    /// CREATE INDEX.
    CreateIndex(Key),
    /// DROP INDEX by name.
    DropIndex(String),
    /// A change of rows, and whether RETURNING * is asked for.
    Change(Change, bool),
}

/// A change of rows.
#[derive(Clone, Debug)]
pub enum Change {
    /// INSERT.
    Insert(Source, Option<Conflict>),
    /// UPDATE: columns with their new values; rows; a list to join with.
    Update(Vec<(usize, Expression)>, Condition, Option<Mapping>),
    /// DELETE; a list to join with.
    Delete(Condition, Option<Mapping>),
}

/// The rows of an INSERT.
#[derive(Clone, Debug)]
pub enum Source {
    /// VALUES; `None` is DEFAULT.
    Values(Vec<Vec<Option<Cell>>>),
    /// A query over the table itself: one expression a column.
    Own(Vec<Expression>, Condition),
}

/// ON CONFLICT.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// The key that is named, if one is.
    pub arbiter: Option<Key>,
    /// What to do with the row in the way.
    pub action: OnConflict,
}

/// What ON CONFLICT does.
#[derive(Clone, Debug)]
pub enum OnConflict {
    /// DO NOTHING.
    Nothing,
    /// DO UPDATE SET … WHERE.
    Update(Vec<(usize, Expression)>, Condition),
}

/// A list (k, v) that UPDATE … FROM and DELETE … USING join the table with, by a column; no k is there twice.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// The column that equals k.
    pub on: usize,
    /// The type of v.
    pub kind: Kind,
    /// The pairs.
    pub pairs: Vec<(Cell, Cell)>,
}

/// An expression over a row.
#[derive(Clone, Debug)]
pub enum Expression {
    /// A constant.
    Constant(Cell),
    /// DEFAULT of the column that is set.
    Default,
    /// A column of the row in the table.
    Column(usize),
    /// A column of the row that was to be inserted.
    Excluded(usize),
    /// v of the mapping.
    Mapped,
    /// A number more than another expression, in units of a cell.
    Plus(Box<Expression>, i64),
    /// A text behind another one.
    Join(Box<Expression>, &'static str),
    /// `60 / (column - number)`: 22012 where they are equal.
    Ratio(usize, i64),
}

/// A condition on a row of the table.
#[derive(Clone, Debug)]
pub enum Condition {
    /// All rows.
    All,
    /// A column equals a value.
    Equal(usize, Cell),
    /// A column has one of several values.
    In(usize, Vec<Cell>),
    /// A column is below a number, in units of a cell.
    Below(usize, i64),
    /// A column is NULL.
    IsNull(usize),
    /// The rest of dividing an integer column by a number.
    Rest(usize, i64, i64),
    /// Both hold.
    Both(Box<Condition>, Box<Condition>),
}

impl Statement {
    /// Its text.
    pub fn sql(&self, shape: &Shape) -> String {
        match self {
            Statement::Begin => "begin".to_string(),
            Statement::Commit => "commit".to_string(),
            Statement::Rollback => "rollback".to_string(),
            Statement::Savepoint(name) => format!("savepoint {name}"),
            Statement::RollbackTo(name) => format!("rollback to {name}"),
            Statement::Release(name) => format!("release {name}"),
            Statement::Freeze => "freeze table t".to_string(),
            Statement::Truncate => "truncate t".to_string(),
            Statement::CreateIndex(key) => key.create_index(),
            Statement::DropIndex(name) => format!("drop index {name}"),
            Statement::Change(change, returning) => {
                // What the change returns of an old or new row is the table's columns alone.
                let all = if *returning { " returning t.*" } else { "" };
                format!("{}{all}", change.sql(shape))
            }
        }
    }
}

impl Change {
    fn sql(&self, shape: &Shape) -> String {
        match self {
            Change::Insert(source, conflict) => {
                let conflict = conflict.as_ref().map_or(String::new(), |c| c.sql(shape));
                format!("insert into t {}{conflict}", source.sql(shape))
            }
            Change::Update(set, condition, mapping) => {
                let from = mapping.as_ref().map_or(String::new(), |m| m.sql("from", shape));
                let filter = whole(condition, mapping.as_ref(), shape);
                format!("update t set {}{from}{filter}", set_list(set, shape))
            }
            Change::Delete(condition, mapping) => {
                let using = mapping.as_ref().map_or(String::new(), |m| m.sql("using", shape));
                format!(
                    "delete from t{using}{}",
                    whole(condition, mapping.as_ref(), shape)
                )
            }
        }
    }
}

fn set_list(set: &[(usize, Expression)], shape: &Shape) -> String {
    let set = set
        .iter()
        .map(|(c, e)| format!("c{c} = {}", e.sql(shape.columns[*c].kind)));
    set.collect::<Vec<_>>().join(", ")
}

/// The WHERE clause with the join's condition; nothing if every row meets it.
fn whole(condition: &Condition, mapping: Option<&Mapping>, shape: &Shape) -> String {
    let join = mapping.map(|m| format!("t.c{} = v.k", m.on));
    let own = condition.sql(shape);
    let parts: Vec<String> = join.into_iter().chain(own).collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!(" where {}", parts.join(" and ")),
    }
}

impl Source {
    /// The expressions of a query, one a column; empty for VALUES.
    pub(super) fn list(&self) -> &[Expression] {
        match self {
            Source::Values(_) => &[],
            Source::Own(list, _) => list,
        }
    }

    fn sql(&self, shape: &Shape) -> String {
        match self {
            Source::Values(rows) => {
                let cell = |(value, kind): (&Option<Cell>, Kind)| match value {
                    None => "default".to_string(),
                    Some(cell) => cell.literal(kind),
                };
                let kinds = || shape.columns.iter().map(|c| c.kind);
                let row = |row: &Vec<Option<Cell>>| {
                    let cells: Vec<String> = row.iter().zip(kinds()).map(cell).collect();
                    format!("({})", cells.join(", "))
                };
                let rows: Vec<String> = rows.iter().map(row).collect();
                format!("values {}", rows.join(", "))
            }
            Source::Own(list, condition) => {
                let list = list.iter().zip(&shape.columns).map(|(e, c)| e.sql(c.kind));
                let list: Vec<String> = list.collect();
                format!(
                    "select {} from t{}",
                    list.join(", "),
                    whole(condition, None, shape)
                )
            }
        }
    }
}

impl Conflict {
    /// Columns that DO UPDATE sets, with their values; empty for DO NOTHING.
    pub(super) fn set(&self) -> &[(usize, Expression)] {
        match &self.action {
            OnConflict::Nothing => &[],
            OnConflict::Update(set, _) => set,
        }
    }

    fn sql(&self, shape: &Shape) -> String {
        let target = match &self.arbiter {
            None => String::new(),
            // Constraints by name, indexes by their columns.
            Some(key) if key.constraint => format!(" on constraint {}", key.name),
            Some(key) => format!(" ({})", key.list()),
        };
        let action = match &self.action {
            OnConflict::Nothing => "nothing".to_string(),
            OnConflict::Update(set, condition) => {
                format!(
                    "update set {}{}",
                    set_list(set, shape),
                    whole(condition, None, shape)
                )
            }
        };
        format!(" on conflict{target} do {action}")
    }
}

impl Mapping {
    fn sql(&self, word: &str, shape: &Shape) -> String {
        let kind = shape.columns[self.on].kind;
        let pair = |(k, v): &(Cell, Cell)| format!("({}, {})", k.literal(kind), typed(v, self.kind));
        let pairs: Vec<String> = self.pairs.iter().map(pair).collect();
        format!(" {word} (values {}) v (k, v)", pairs.join(", "))
    }
}

/// A literal that has its type also where it is NULL.
fn typed(cell: &Cell, kind: Kind) -> String {
    match cell {
        Cell::Null => format!("cast(null as {kind})"),
        cell => cell.literal(kind),
    }
}

/// A number of a cell's units.
fn number(n: i64, kind: Kind) -> String {
    Cell::Int(n).shown(kind)
}

impl Expression {
    fn sql(&self, kind: Kind) -> String {
        match self {
            Expression::Constant(cell) => cell.literal(kind),
            Expression::Default => "default".to_string(),
            Expression::Column(c) => format!("t.c{c}"),
            Expression::Excluded(c) => format!("excluded.c{c}"),
            Expression::Mapped => "v.v".to_string(),
            Expression::Plus(e, n) if *n < 0 => format!("{} - {}", e.sql(kind), number(-n, kind)),
            Expression::Plus(e, n) => format!("{} + {}", e.sql(kind), number(*n, kind)),
            Expression::Join(e, text) => format!("{} || '{text}'", e.sql(kind)),
            Expression::Ratio(c, n) => format!("60 / (t.c{c} - {n})"),
        }
    }
}

impl Condition {
    /// Its text; `None` for [`Condition::All`].
    fn sql(&self, shape: &Shape) -> Option<String> {
        let kind = |c: &usize| shape.columns[*c].kind;
        Some(match self {
            Condition::All => return None,
            Condition::Equal(c, cell) => format!("t.c{c} = {}", cell.literal(kind(c))),
            Condition::In(c, cells) => {
                let cells: Vec<String> = cells.iter().map(|cell| cell.literal(kind(c))).collect();
                format!("t.c{c} in ({})", cells.join(", "))
            }
            Condition::Below(c, n) => format!("t.c{c} < {}", number(*n, kind(c))),
            Condition::IsNull(c) => format!("t.c{c} is null"),
            Condition::Rest(c, modulus, rest) => format!("t.c{c} % {modulus} = {rest}"),
            Condition::Both(a, b) => {
                let parts: Vec<String> = [a, b].iter().filter_map(|c| c.sql(shape)).collect();
                return (!parts.is_empty()).then(|| parts.join(" and "));
            }
        })
    }
}
