//! Random tables with foreign keys, and statements that meet the keys often.

use super::statement::{Alter, Change, Condition, Conflict, Expression, Statement};
use super::{
    Action, Cell, Check, Column, Deferrable, ForeignKey, Index, IndexKey, Model, Row, Table, UniqueKey, View,
    World,
};
use crate::Random;

/// Schema and name of each table.
const TABLES: [(&str, &str); 5] = [
    ("s1", "t0"),
    ("s1", "t1"),
    ("s2", "t2"),
    ("s2", "t3"),
    ("s1", "t4"),
];
/// Rows of each table at the start.
const ROWS: i64 = 5;
/// Tries to find a statement whose outcome does not depend on the order of rows.
const TRIES: usize = 20;
/// Numbers of what statements define begin here.
const DEFINED: u64 = 10_000;

/// Tables with rows, and statements.
#[derive(Clone, Debug)]
pub struct Case {
    /// The tables at the start.
    pub world: World,
    /// Indexes at the start.
    pub indexes: Vec<Statement>,
    /// The statements.
    pub statements: Vec<Statement>,
}

impl Case {
    /// The statements that make [`Case::world`].
    pub fn setup(&self) -> Vec<String> {
        let mut sql = vec!["create schema s1".to_string(), "create schema s2".to_string()];
        for table in &self.world.tables {
            sql.push(table.create());
            let stored: Vec<usize> = stored(table).collect();
            let row = |row: &Row| {
                let cells = table.values(&stored, &row.cells);
                let cells = cells
                    .iter()
                    .map(|c| c.map_or("null".to_string(), |n| n.to_string()));
                format!("({})", cells.collect::<Vec<_>>().join(", "))
            };
            let (name, rows) = (table.qualified(), table.rows.iter().map(row));
            let rows = rows.collect::<Vec<_>>().join(", ");
            sql.push(format!(
                "insert into {name} ({}) values {rows}",
                table.names(&stored)
            ));
        }
        for key in &self.world.foreign_keys {
            let child = self.world.tables[key.child].qualified();
            let key = key.sql(&self.world).expect("its columns are there");
            sql.push(format!("alter table {child} add {key}"));
        }
        sql.extend(self.indexes.iter().filter_map(|i| i.sql(&self.world)));
        sql
    }
}

/// The case of a seed with a number of statements.
pub fn generate(seed: u64, statements: usize) -> Case {
    let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9) + 1);
    random.bits();
    let mut world = World::default();
    for (schema, name) in TABLES {
        let table = table(&mut random, &mut world, schema, name);
        world.tables.push(table);
    }
    let mut indexes = Vec::new();
    for nth in 0..8 + random.index(5) {
        let number = world.number();
        // The first keys make a chain through all tables.
        let chained = (nth < 4).then_some((nth + 1, nth));
        let mut key = foreign_key(&mut random, &world, number, chained);
        let holds = |r: &Row| key.is_satisfied(&world, &r.cells);
        key.valid = world.tables[key.child].rows.iter().all(holds);
        if random.below(2) == 0 {
            indexes.push(Statement::CreateIndex(number, key.child, key.columns.clone()));
        }
        world.foreign_keys.push(key);
    }
    let mut case = Case {
        world: world.clone(),
        indexes,
        statements: Vec::new(),
    };
    let mut model = Model::new(world);
    for step in 0..statements as u64 {
        for _ in 0..TRIES {
            let statement = Maker {
                random: &mut random,
                model: &model,
                number: DEFINED + step,
            }
            .statement();
            if let Some(prediction) = statement.and_then(|s| {
                let prediction = model.predict(&s)?;
                case.statements.push(s);
                Some(prediction)
            }) {
                model = prediction.model;
                break;
            }
        }
    }
    case
}

/// Ids of the columns that are not generated.
fn stored(table: &Table) -> impl Iterator<Item = usize> {
    table.columns.iter().filter(|c| c.doubles.is_none()).map(|c| c.id)
}

fn table(random: &mut Random, world: &mut World, schema: &'static str, name: &str) -> Table {
    let mut columns = Vec::new();
    for name in ["id", "u", "a", "b", "c", "g"] {
        let not_null = name == "id" || name == "c" && random.below(3) == 0;
        let default = match name {
            "a" | "b" | "c" if not_null || random.below(3) > 0 => Some(random.below(4) as i64),
            _ => None,
        };
        columns.push(Column {
            id: world.number() as usize,
            name: name.to_string(),
            wide: random.below(3) == 0,
            not_null,
            default,
            doubles: None,
        });
    }
    let ids: Vec<usize> = columns.iter().map(|c| c.id).collect();
    columns[5].doubles = Some(ids[2]);
    let keys = [
        (vec![ids[0]], None),
        (vec![ids[0], ids[3]], None),
        (vec![ids[1]], Some(random.below(2) == 0)),
    ];
    let keys = keys.map(|(columns, deferrable)| UniqueKey {
        number: world.number(),
        columns,
        deferrable,
    });
    let row = |n: i64| {
        let a = (n + 3 * random.below(2) as i64) % 6;
        let c = Some(random.below(ROWS as u64) as i64);
        Row {
            version: world.number(),
            own: false,
            cells: vec![Some(n), Some(n), Some(a), Some(n % 3), c, Some(2 * a)],
        }
    };
    Table {
        schema,
        name: name.to_string(),
        columns,
        keys: keys.to_vec(),
        checks: Vec::new(),
        indexes: Vec::new(),
        rows: (0..=ROWS).map(row).collect(),
    }
}

fn deferrable(random: &mut Random) -> Deferrable {
    [None, Some(false), Some(true), Some(true)][random.index(4)]
}

/// A foreign key between two tables, or any two.
fn foreign_key(
    random: &mut Random,
    world: &World,
    number: u64,
    tables: Option<(usize, usize)>,
) -> ForeignKey {
    let any = |random: &mut Random| random.index(world.tables.len());
    let (child, parent) = tables.unwrap_or_else(|| (any(random), any(random)));
    let (c, p) = (&world.tables[child], &world.tables[parent]);
    let named = |t: &Table, name: &str| t.columns.iter().find(|c| c.name == name).map(|c| c.id);
    let lists: [(&[&str], &[&str]); 7] = [
        (&["a"], &["id"]),
        (&["c"], &["id"]),
        (&["g"], &["id"]),
        (&["id"], &["id"]),
        (&["a", "b"], &["id", "b"]),
        (&["c", "b"], &["id", "b"]),
        (&["b", "a"], &["b", "id"]),
    ];
    let (columns, key) = lists[[0, 0, 1, 1, 2, 3, 4, 4, 5, 6][random.index(10)]];
    let columns: Option<Vec<usize>> = columns.iter().map(|n| named(c, n)).collect();
    let key: Option<Vec<usize>> = key.iter().map(|n| named(p, n)).collect();
    // Columns that are renamed or dropped: the child's first, and the parent's key.
    let (columns, key) = match (columns, key) {
        (Some(columns), Some(key)) => (columns, key),
        _ => (vec![c.columns[0].id], p.keys[0].columns.clone()),
    };
    let computed = |id: &usize| c.at(*id).is_some_and(|at| c.columns[at].doubles.is_some());
    let is_computed = columns.iter().any(computed);
    let list = |random: &mut Random| match random.below(3) {
        0 => vec![columns[random.index(columns.len())]],
        _ => Vec::new(),
    };
    let on_delete = match random.below(if is_computed { 6 } else { 11 }) {
        0 => Action::NoAction,
        1 => Action::Restrict,
        2..6 => Action::Cascade,
        6..8 => Action::SetNull(list(random)),
        _ => Action::SetDefault(list(random)),
    };
    let on_update = match random.below(if is_computed { 4 } else { 13 }) {
        0 | 1 => Action::NoAction,
        2 | 3 => Action::Restrict,
        4..7 => Action::Cascade,
        7..10 => Action::SetNull(Vec::new()),
        _ => Action::SetDefault(Vec::new()),
    };
    ForeignKey {
        number,
        child,
        full: columns.len() > 1 && random.below(4) > 0 || random.below(5) == 0,
        columns,
        parent,
        key,
        on_delete,
        on_update,
        deferrable: deferrable(random),
        valid: random.below(3) > 0,
    }
}

/// Makes one statement for a model.
struct Maker<'a> {
    random: &'a mut Random,
    model: &'a Model,
    /// Number of what the statement defines.
    number: u64,
}

impl Maker<'_> {
    fn statement(mut self) -> Option<Statement> {
        let savepoints = self.model.savepoints();
        let name = ["x", "y"][self.random.index(2)];
        let roll = self.random.below(100);
        if self.model.is_failed() {
            return Some(match roll {
                0..50 if !savepoints.is_empty() => Statement::RollbackTo(savepoints[savepoints.len() - 1]),
                0..75 => Statement::Rollback,
                75..90 => Statement::Commit,
                _ => self.change(),
            });
        }
        if !self.model.is_inside() {
            return match roll {
                0..30 => Some(Statement::Begin),
                30..85 => Some(self.change()),
                _ => self.definition(),
            };
        }
        Some(match roll {
            0..10 => Statement::Commit,
            10..13 => Statement::Rollback,
            13..20 => Statement::Savepoint(name),
            20..25 if !savepoints.is_empty() => {
                Statement::RollbackTo(savepoints[self.random.index(savepoints.len())])
            }
            25..27 if !savepoints.is_empty() => {
                Statement::Release(savepoints[self.random.index(savepoints.len())])
            }
            20..36 => {
                let one = (self.random.below(2) == 0)
                    .then(|| self.constraint(None))
                    .flatten();
                Statement::SetConstraints(one, self.random.below(3) > 0)
            }
            36..90 => self.change(),
            _ => return self.definition(),
        })
    }

    fn table(&mut self) -> usize {
        self.random.index(self.model.world.tables.len())
    }

    /// A constraint, of one table if one is given.
    fn constraint(&mut self, of: Option<usize>) -> Option<u64> {
        let world = &self.model.world;
        let foreign = world
            .foreign_keys
            .iter()
            .filter(|k| of.is_none_or(|t| t == k.child));
        let mut numbers: Vec<u64> = foreign.map(|k| k.number).collect();
        for (at, table) in world
            .tables
            .iter()
            .enumerate()
            .filter(|(at, _)| of.is_none_or(|t| t == *at))
        {
            debug_assert!(of.is_none_or(|t| t == at));
            numbers.extend(table.keys.iter().skip(2).map(|k| k.number));
        }
        (!numbers.is_empty()).then(|| numbers[self.random.index(numbers.len())])
    }

    fn number_of(&mut self, id: Option<&str>) -> Cell {
        match (self.random.below(12), id) {
            (0, None | Some("b")) => None,
            (_, Some("b")) => Some(self.random.below(3) as i64),
            _ => Some(self.random.below(10) as i64),
        }
    }

    fn change(&mut self) -> Statement {
        let at = self.table();
        let table = &self.model.world.tables[at];
        let change = match self.random.below(10) {
            0..3 => self.insert(at),
            3..7 => Change::Update(self.set(table), self.condition(table)),
            _ => Change::Delete(self.condition(table)),
        };
        Statement::Change(at, change)
    }

    fn insert(&mut self, at: usize) -> Change {
        let world = &self.model.world;
        let table = &world.tables[at];
        let columns: Vec<usize> = stored(table).collect();
        let mut rows = Vec::new();
        for _ in 0..1 + self.random.index(3) {
            let mut cells: Vec<Option<Cell>> = Vec::new();
            for id in &columns {
                let name = table.columns[table.at(*id).expect("it is stored")].name.clone();
                let is_key = table.keys[0].columns.contains(id);
                cells.push(match self.random.below(10) {
                    0 if !is_key => None,
                    _ if is_key || name == "u" => Some(Some(self.random.below(14) as i64)),
                    _ => Some(self.number_of((name == "b").then_some("b"))),
                });
            }
            for key in world.foreign_keys.iter().filter(|k| k.child == at) {
                let parents = &world.tables[key.parent].rows;
                if parents.is_empty() || self.random.below(8) == 0 {
                    continue;
                }
                let parent = &parents[self.random.index(parents.len())];
                let values = world.tables[key.parent].values(&key.key, &parent.cells);
                for (id, value) in key.columns.iter().zip(values) {
                    let is_key = table.keys[0].columns.contains(id);
                    if let Some(column) = columns.iter().position(|c| c == id).filter(|_| !is_key) {
                        let is_null = self.random.below(12) == 0;
                        cells[column] = Some(value.filter(|_| !is_null));
                    }
                }
            }
            rows.push(cells);
        }
        let conflict = match self.random.below(4) {
            0 => Some(Conflict(match self.random.below(4) {
                0 => Vec::new(),
                _ => self.set(table),
            })),
            _ => None,
        };
        Change::Insert(columns, rows, conflict)
    }

    fn set(&mut self, table: &Table) -> Vec<(usize, Expression)> {
        let columns: Vec<usize> = stored(table).collect();
        let mut set: Vec<(usize, Expression)> = Vec::new();
        for _ in 0..1 + self.random.index(2) {
            // The key more often than others.
            let id = columns[self.random.index(columns.len() + 4).saturating_sub(4)];
            let name = &table.columns[table.at(id).expect("it is stored")].name;
            let expression = match self.random.below(10) {
                0 => Expression::Default,
                1..5 => Expression::Plus(id, self.random.below(9) as i64 + 1),
                _ => Expression::Constant(self.number_of((name == "b").then_some("b"))),
            };
            if set.iter().all(|(other, _)| *other != id) {
                set.push((id, expression));
            }
        }
        set
    }

    fn condition(&mut self, table: &Table) -> Condition {
        let id = table.columns[self.random.index(table.columns.len() + 3).saturating_sub(3)].id;
        match self.random.below(16) {
            0 => Condition::All,
            1..3 => Condition::AtLeast(id, self.random.below(8) as i64 + 2),
            3 => Condition::IsNull(id),
            _ => {
                let cells = table.rows.iter().filter_map(|r| table.values(&[id], &r.cells)[0]);
                let cells: Vec<i64> = cells.collect();
                match cells.is_empty() {
                    true => Condition::Equal(id, self.random.below(8) as i64),
                    false => Condition::Equal(id, cells[self.random.index(cells.len())]),
                }
            }
        }
    }

    fn definition(&mut self) -> Option<Statement> {
        let at = self.table();
        let (world, number) = (&self.model.world, self.number);
        let table = &world.tables[at];
        let column = table.columns[self.random.index(table.columns.len())].id;
        let spare = ["d", "e", "a", "b", "c", "u"][self.random.index(6)].to_string();
        let roll = self.random.below(38);
        if roll >= 24 {
            return self.later_definition(at, roll);
        }
        let alter = match roll {
            0..5 => {
                let key = foreign_key(self.random, world, number, None);
                return Some(Statement::Alter(key.child, Alter::AddForeignKey(key)));
            }
            5..7 => Alter::DropConstraint(self.constraint(Some(at))?),
            7..10 => {
                let open = world.foreign_keys.iter().filter(|k| !k.valid).collect::<Vec<_>>();
                let key = open.get(self.random.index(open.len()))?;
                return Some(Statement::Alter(key.child, Alter::Validate(key.number)));
            }
            10..13 => {
                let default = (self.random.below(3) > 0).then(|| self.random.below(4) as i64);
                Alter::AddColumn(number as usize, spare, default, self.random.below(3) == 0)
            }
            // The first column makes the primary key, which ON CONFLICT names.
            13 | 14 if table.keys[0].columns != [column] => {
                Alter::DropColumn(column, self.random.below(2) == 0)
            }
            13..17 => Alter::Type(column, self.random.below(2) == 0, self.random.below(3) == 0),
            17 => Alter::RenameColumn(column, spare),
            18 => Alter::Rename(["t0", "t1", "t5", "t6"][self.random.index(4)].to_string()),
            19 => Alter::SetDefault(column, self.number_of(None)),
            // ON CONFLICT refuses a deferrable key of the same column.
            20 if table.keys[0].columns != [column] => {
                let deferrable = deferrable(self.random);
                Alter::AddUnique(number, vec![column], deferrable)
            }
            21 => return Some(Statement::CreateIndex(number, at, vec![column])),
            _ => {
                let other = self.table();
                let mut tables = vec![at];
                tables.extend((other != at && self.random.below(3) == 0).then_some(other));
                return Some(Statement::Truncate(tables, self.random.below(2) == 0));
            }
        };
        Some(Statement::Alter(at, alter))
    }

    /// Definitions of CHECK constraints, and ALTER CONSTRAINT.
    fn later_definition(&mut self, at: usize, roll: u64) -> Option<Statement> {
        let number = self.number;
        let table = &self.model.world.tables[at];
        let plain: Vec<usize> = stored(table).collect();
        Some(match roll {
            24..27 => {
                let constraint = self.constraint(Some(at))?;
                Statement::Alter(at, Alter::Defer(constraint, deferrable(self.random)))
            }
            27..29 => {
                let check = Check {
                    number,
                    column: plain[self.random.index(plain.len())],
                    least: self.random.below(3) as i64,
                    valid: self.random.below(2) == 0,
                };
                Statement::Alter(at, Alter::AddCheck(check))
            }
            29..31 => {
                let checks: Vec<u64> = table.checks.iter().map(|check| check.number).collect();
                let check = *checks.get(self.random.index(checks.len().max(1)))?;
                Statement::Alter(
                    at,
                    match self.random.below(3) {
                        0 => Alter::Validate(check),
                        _ => Alter::DropConstraint(check),
                    },
                )
            }
            _ => return self.object(at, roll),
        })
    }

    /// Definitions of indexes that compute something, and of materialized views.
    fn object(&mut self, at: usize, roll: u64) -> Option<Statement> {
        let (world, number) = (&self.model.world, self.number);
        let table = &world.tables[at];
        let ids: Vec<usize> = table.columns.iter().map(|column| column.id).collect();
        let any = |random: &mut Random| ids[random.index(ids.len())];
        // An expression of an index cannot read a generated column.
        let plain: Vec<usize> = stored(table).collect();
        let stored_one = |random: &mut Random| plain[random.index(plain.len())];
        let condition = |random: &mut Random| (stored_one(random), random.below(6) as i64);
        Some(match roll {
            31..33 => {
                let unique = self.random.below(2) == 0;
                let key = match self.random.below(3) {
                    0 => IndexKey::Column(any(self.random)),
                    _ => IndexKey::Sum(stored_one(self.random), stored_one(self.random)),
                };
                let condition = (self.random.below(2) == 0).then(|| condition(self.random));
                Statement::CreateComputed(
                    at,
                    Index {
                        number,
                        key,
                        condition,
                        unique,
                    },
                )
            }
            33 => {
                let indexes: Vec<u64> = table.indexes.iter().map(|index| index.number).collect();
                Statement::DropIndex(at, *indexes.get(self.random.index(indexes.len().max(1)))?)
            }
            34 => {
                let mut columns = vec![any(self.random), any(self.random)];
                columns.dedup();
                let view = View {
                    number,
                    schema: table.schema,
                    table: at,
                    columns,
                    names: Vec::new(),
                    condition: (self.random.below(2) == 0).then(|| condition(self.random)),
                    rows: None,
                };
                Statement::CreateView(view, self.random.below(3) > 0)
            }
            _ => {
                let views: Vec<u64> = world.views.iter().map(|view| view.number).collect();
                let view = *views.get(self.random.index(views.len().max(1)))?;
                match roll {
                    35 | 36 => Statement::Refresh(view, self.random.below(4) > 0),
                    _ => Statement::DropView(view),
                }
            }
        })
    }
}
