//! Statements of the model, and their text under the names that tables and columns have now.

use super::objects::where_sql;
use super::{Action, Cell, Check, ForeignKey, Index, Table, View, World};

/// A statement. Tables are given by position, columns by id, constraints by number.
#[derive(Clone, Debug)]
pub enum Statement {
    /// BEGIN.
    Begin,
    /// COMMIT.
    Commit,
    /// ROLLBACK.
    Rollback,
    /// SAVEPOINT.
    Savepoint(&'static str),
    /// ROLLBACK TO.
    RollbackTo(&'static str),
    /// RELEASE.
    Release(&'static str),
    /// SET CONSTRAINTS: one or ALL; deferred.
    SetConstraints(Option<u64>, bool),
    /// A change of rows of a table.
    Change(usize, Change),
    /// TRUNCATE of tables; CASCADE.
    Truncate(Vec<usize>, bool),
    /// CREATE INDEX of a number on columns of a table.
    CreateIndex(u64, usize, Vec<usize>),
    /// CREATE INDEX on an expression or with a condition.
    CreateComputed(usize, Index),
    /// DROP INDEX of a number, of a table.
    DropIndex(usize, u64),
    /// CREATE MATERIALIZED VIEW, with data or not. The names and rows of the view do not count.
    CreateView(View, bool),
    /// REFRESH MATERIALIZED VIEW, with data or not.
    Refresh(u64, bool),
    /// DROP MATERIALIZED VIEW.
    DropView(u64),
    /// ALTER TABLE.
    Alter(usize, Alter),
}

/// A change of rows.
#[derive(Clone, Debug)]
pub enum Change {
    /// INSERT of columns; `None` is DEFAULT.
    Insert(Vec<usize>, Vec<Vec<Option<Cell>>>, Option<Conflict>),
    /// UPDATE.
    Update(Vec<(usize, Expression)>, Condition),
    /// DELETE.
    Delete(Condition),
}

/// ON CONFLICT on the primary key: DO NOTHING, or what DO UPDATE sets.
#[derive(Clone, Debug)]
pub struct Conflict(pub Vec<(usize, Expression)>);

/// A value of SET.
#[derive(Clone, Debug)]
pub enum Expression {
    /// A constant.
    Constant(Cell),
    /// DEFAULT.
    Default,
    /// A column and a number.
    Plus(usize, i64),
}

/// A condition on rows.
#[derive(Clone, Debug)]
pub enum Condition {
    /// Every row.
    All,
    /// A column equals a number.
    Equal(usize, i64),
    /// A column is at least a number.
    AtLeast(usize, i64),
    /// A column is NULL.
    IsNull(usize),
}

/// An action of ALTER TABLE.
#[derive(Clone, Debug)]
pub enum Alter {
    /// ADD CONSTRAINT … FOREIGN KEY; NOT VALID if the key says so. The table is the key's child.
    AddForeignKey(ForeignKey),
    /// ADD CONSTRAINT … UNIQUE of a number.
    AddUnique(u64, Vec<usize>, super::Deferrable),
    /// ADD CONSTRAINT … CHECK; NOT VALID if the constraint says so.
    AddCheck(Check),
    /// ALTER CONSTRAINT.
    Defer(u64, super::Deferrable),
    /// DROP CONSTRAINT of a foreign key, unique key or CHECK.
    DropConstraint(u64),
    /// VALIDATE CONSTRAINT.
    Validate(u64),
    /// ADD COLUMN of an id and a name; default, NOT NULL.
    AddColumn(usize, String, Cell, bool),
    /// DROP COLUMN; CASCADE.
    DropColumn(usize, bool),
    /// ALTER COLUMN TYPE: bigint; USING half of the column.
    Type(usize, bool, bool),
    /// ALTER COLUMN SET DEFAULT.
    SetDefault(usize, Cell),
    /// RENAME COLUMN.
    RenameColumn(usize, String),
    /// RENAME TO.
    Rename(String),
}

fn literal(cell: &Cell) -> String {
    cell.map_or("null".to_string(), |n| n.to_string())
}

impl Statement {
    /// The text, or `None` if a table, column or constraint that it names is not there.
    pub fn sql(&self, world: &World) -> Option<String> {
        let table = |at: &usize| &world.tables[*at];
        Some(match self {
            Statement::Begin => "begin".to_string(),
            Statement::Commit => "commit".to_string(),
            Statement::Rollback => "rollback".to_string(),
            Statement::Savepoint(name) => format!("savepoint {name}"),
            Statement::RollbackTo(name) => format!("rollback to {name}"),
            Statement::Release(name) => format!("release {name}"),
            Statement::SetConstraints(which, deferred) => {
                let which = match which {
                    None => "all".to_string(),
                    Some(number) => {
                        let schema = world.tables[world.table_of(*number)?].schema;
                        format!("{schema}.{}", World::constraint_name(*number))
                    }
                };
                let word = if *deferred { "deferred" } else { "immediate" };
                format!("set constraints {which} {word}")
            }
            Statement::Change(at, change) => change.sql(table(at))?,
            Statement::Truncate(tables, cascade) => {
                let names: Vec<String> = tables.iter().map(|t| table(t).qualified()).collect();
                let cascade = if *cascade { " cascade" } else { "" };
                format!("truncate {}{cascade}", names.join(", "))
            }
            Statement::CreateIndex(number, at, columns) => {
                let columns = table(at).listed(columns)?;
                format!("create index i{number} on {} ({columns})", table(at).qualified())
            }
            Statement::CreateComputed(at, index) => {
                let (name, key) = (table(at).qualified(), index.key.sql(table(at))?);
                let unique = if index.unique { "unique " } else { "" };
                let condition = where_sql(table(at), index.condition)?;
                format!(
                    "create {unique}index i{} on {name} (({key})){condition}",
                    index.number
                )
            }
            Statement::DropIndex(at, number) => {
                let known = table(at).indexes.iter().any(|index| index.number == *number);
                known.then(|| format!("drop index {}.i{number}", table(at).schema))?
            }
            Statement::CreateView(view, has_data) => {
                let of = table(&view.table);
                let (names, condition) = (of.listed(&view.columns)?, where_sql(of, view.condition)?);
                let data = if *has_data { "" } else { " with no data" };
                let (view, of) = (view.qualified(), of.qualified());
                format!("create materialized view {view} as select {names} from {of}{condition}{data}")
            }
            Statement::Refresh(number, has_data) => {
                let data = if *has_data { "" } else { " with no data" };
                format!(
                    "refresh materialized view {}{data}",
                    world.view(*number)?.qualified()
                )
            }
            Statement::DropView(number) => {
                format!("drop materialized view {}", world.view(*number)?.qualified())
            }
            Statement::Alter(at, alter) => {
                format!("alter table {} {}", table(at).qualified(), alter.sql(world, *at)?)
            }
        })
    }
}

impl Table {
    /// Names of columns with commas between, or `None` if one is not there.
    pub fn listed(&self, columns: &[usize]) -> Option<String> {
        let all = columns.iter().all(|id| self.at(*id).is_some());
        all.then(|| self.names(columns))
    }

    fn set(&self, set: &[(usize, Expression)]) -> Option<String> {
        let one = |(id, e): &(usize, Expression)| {
            let name = self.listed(&[*id])?;
            Some(match e {
                Expression::Constant(cell) => format!("{name} = {}", literal(cell)),
                Expression::Default => format!("{name} = default"),
                Expression::Plus(of, n) => format!("{name} = {}.{} + {n}", self.name, self.listed(&[*of])?),
            })
        };
        Some(set.iter().map(one).collect::<Option<Vec<_>>>()?.join(", "))
    }

    /// CREATE TABLE with the keys, without foreign keys.
    pub fn create(&self) -> String {
        let column = |c: &super::Column| {
            let ty = if c.wide { "bigint" } else { "integer" };
            let not_null = if c.not_null { " not null" } else { "" };
            let default = c.default.map_or(String::new(), |n| format!(" default {n}"));
            let generated = c.doubles.map_or(String::new(), |of| {
                format!(" generated always as ({} * 2) stored", self.names(&[of]))
            });
            format!("{} {ty}{not_null}{default}{generated}", c.name)
        };
        let key = |(nth, k): (usize, &super::UniqueKey)| {
            let word = if nth == 0 { "primary key" } else { "unique" };
            let (name, columns) = (World::constraint_name(k.number), self.names(&k.columns));
            format!("constraint {name} {word} ({columns}){}", deferrable(k.deferrable))
        };
        let columns = self.columns.iter().map(column);
        let parts: Vec<String> = columns.chain(self.keys.iter().enumerate().map(key)).collect();
        format!("create table {} ({})", self.qualified(), parts.join(", "))
    }
}

impl Change {
    fn sql(&self, table: &Table) -> Option<String> {
        let name = table.qualified();
        Some(match self {
            Change::Insert(columns, rows, conflict) => {
                let cell = |c: &Option<Cell>| c.as_ref().map_or("default".to_string(), literal);
                let row = |row: &Vec<Option<Cell>>| {
                    let cells: Vec<String> = row.iter().map(cell).collect();
                    format!("({})", cells.join(", "))
                };
                let rows: Vec<String> = rows.iter().map(row).collect();
                let conflict = match conflict {
                    None => String::new(),
                    Some(Conflict(set)) => {
                        let key = table.names(&table.keys[0].columns);
                        let action = match set.is_empty() {
                            true => "nothing".to_string(),
                            false => format!("update set {}", table.set(set)?),
                        };
                        format!(" on conflict ({key}) do {action}")
                    }
                };
                let columns = table.listed(columns)?;
                format!(
                    "insert into {name} ({columns}) values {}{conflict}",
                    rows.join(", ")
                )
            }
            Change::Update(set, condition) => {
                format!("update {name} set {}{}", table.set(set)?, condition.sql(table)?)
            }
            Change::Delete(condition) => format!("delete from {name}{}", condition.sql(table)?),
        })
    }
}

impl Condition {
    fn sql(&self, table: &Table) -> Option<String> {
        Some(match self {
            Condition::All => String::new(),
            Condition::Equal(c, n) => format!(" where {} = {n}", table.listed(&[*c])?),
            Condition::AtLeast(c, n) => format!(" where {} >= {n}", table.listed(&[*c])?),
            Condition::IsNull(c) => format!(" where {} is null", table.listed(&[*c])?),
        })
    }
}

fn deferrable(deferrable: super::Deferrable) -> &'static str {
    match deferrable {
        None => "",
        Some(false) => " deferrable",
        Some(true) => " deferrable initially deferred",
    }
}

impl Alter {
    fn sql(&self, world: &World, at: usize) -> Option<String> {
        let table = &world.tables[at];
        let of = |number: &u64| world.table_of(*number).filter(|t| *t == at);
        let column = |id: &usize| table.listed(&[*id]);
        Some(match self {
            Alter::AddForeignKey(key) => format!("add {}", key.sql(world)?),
            Alter::AddUnique(number, columns, when) => {
                let (name, columns) = (World::constraint_name(*number), table.listed(columns)?);
                format!("add constraint {name} unique ({columns}){}", deferrable(*when))
            }
            Alter::AddCheck(check) => format!(
                "add constraint {} check ({} >= {}){}",
                World::constraint_name(check.number),
                column(&check.column)?,
                check.least,
                if check.valid { "" } else { " not valid" }
            ),
            Alter::Defer(n, when) => {
                let when = match when {
                    None => " not deferrable",
                    Some(false) => " deferrable initially immediate",
                    Some(true) => " deferrable initially deferred",
                };
                of(n).map(|_| format!("alter constraint {}{when}", World::constraint_name(*n)))?
            }
            Alter::DropConstraint(n) => {
                of(n).map(|_| format!("drop constraint {}", World::constraint_name(*n)))?
            }
            Alter::Validate(n) => {
                of(n).map(|_| format!("validate constraint {}", World::constraint_name(*n)))?
            }
            Alter::AddColumn(_, name, default, not_null) => {
                let not_null = if *not_null { " not null" } else { "" };
                let default = default.map_or(String::new(), |n| format!(" default {n}"));
                format!("add column {name} integer{not_null}{default}")
            }
            Alter::DropColumn(id, cascade) => {
                format!(
                    "drop column {}{}",
                    column(id)?,
                    if *cascade { " cascade" } else { "" }
                )
            }
            Alter::Type(id, wide, halved) => {
                let (name, ty) = (column(id)?, if *wide { "bigint" } else { "integer" });
                let using = if *halved {
                    format!(" using ({name} / 2)")
                } else {
                    String::new()
                };
                format!("alter column {name} type {ty}{using}")
            }
            Alter::SetDefault(id, cell) => {
                format!("alter column {} set default {}", column(id)?, literal(cell))
            }
            Alter::RenameColumn(id, name) => format!("rename column {} to {name}", column(id)?),
            Alter::Rename(name) => format!("rename to {name}"),
        })
    }
}

impl ForeignKey {
    /// The constraint's text, or `None` if a column is not there.
    pub fn sql(&self, world: &World) -> Option<String> {
        let (child, parent) = (&world.tables[self.child], &world.tables[self.parent]);
        let action = |action: &Action| {
            let list = |ids: &Vec<usize>| match ids.is_empty() {
                true => Some(String::new()),
                false => Some(format!(" ({})", child.listed(ids)?)),
            };
            Some(match action {
                Action::NoAction => "no action".to_string(),
                Action::Restrict => "restrict".to_string(),
                Action::Cascade => "cascade".to_string(),
                Action::SetNull(ids) => format!("set null{}", list(ids)?),
                Action::SetDefault(ids) => format!("set default{}", list(ids)?),
            })
        };
        Some(format!(
            "constraint {} foreign key ({}) references {} ({}){} on delete {} on update {}{}{}",
            World::constraint_name(self.number),
            child.listed(&self.columns)?,
            parent.qualified(),
            parent.listed(&self.key)?,
            if self.full { " match full" } else { "" },
            action(&self.on_delete)?,
            action(&self.on_update)?,
            deferrable(self.deferrable),
            if self.valid { "" } else { " not valid" },
        ))
    }
}
