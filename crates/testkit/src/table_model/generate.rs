//! Random tables and statements that meet their keys often.

use super::{
    Cell, Change, Column, Condition, Conflict, Expression, Key, Kind, Mapping, Model, OnConflict, Row, Shape,
    Source, State, Statement,
};
use crate::Random;

/// A table and statements on it.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its columns.
    pub shape: Shape,
    /// Its keys at the start, all of constraints.
    pub keys: Vec<Key>,
    /// The statements.
    pub statements: Vec<Statement>,
}

const TEXTS: [&str; 8] = ["", "a", "b", "ab", "é", "A", "a ", "zz"];
const SAVEPOINTS: [&str; 3] = ["s1", "s2", "s3"];

/// Makes a table and `changes` changes of its rows; what begins and ends transactions, makes and drops indexes comes in
/// between. With `frozen`, the table freezes half-way, and now and then.
pub fn generate(seed: u64, changes: usize, frozen: bool) -> Case {
    // Neighbouring seeds of xorshift begin alike.
    let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    for _ in 0..4 {
        random.bits();
    }
    let (shape, keys) = table(&mut random);
    let mut generator = Generator {
        random,
        model: Model::new(shape.clone(), keys.clone()),
        statements: Vec::new(),
        indexes: 0,
    };
    for at in 0..changes {
        generator.between(frozen && at == changes / 2, frozen);
        let statement = generator.change(at);
        generator.push(statement);
    }
    Case {
        shape,
        keys,
        statements: generator.statements,
    }
}

/// A table of 3 to 6 columns with 0 to 3 unique keys.
fn table(random: &mut Random) -> (Shape, Vec<Key>) {
    let count = 3 + random.index(4);
    let kinds = [Kind::Integer, Kind::Integer, Kind::Text, Kind::Decimal];
    let mut columns: Vec<Column> = (0..count)
        .map(|c| {
            let kind = if c == 0 {
                Kind::Integer
            } else {
                kinds[random.index(4)]
            };
            let not_null = random.index(6) == 0;
            let default = match random.index(2) {
                0 if !not_null || random.index(4) == 0 => Cell::Null,
                _ => value(random, kind),
            };
            Column {
                kind,
                not_null,
                default,
            }
        })
        .collect();
    let mut keys: Vec<Key> = Vec::new();
    for at in 0..random.index(4) {
        let key = key(random, &columns, &keys, format!("k{at}"), true);
        keys.extend(key);
    }
    if let Some(first) = keys.first()
        && random.index(2) == 0
    {
        first.columns.iter().for_each(|c| columns[*c].not_null = true);
    }
    let check = match random.index(2) {
        0 => None,
        _ => Some((0, -1 - random.below(3) as i64)),
    };
    (Shape { columns, check }, keys)
}

/// A unique key of one to three columns; `None` if one of these columns is there.
fn key(random: &mut Random, columns: &[Column], keys: &[Key], name: String, constraint: bool) -> Option<Key> {
    let width = [1, 1, 1, 2, 2, 3][random.index(6)];
    let mut chosen: Vec<usize> = Vec::new();
    while chosen.len() < width {
        let column = random.index(columns.len());
        if !chosen.contains(&column) {
            chosen.push(column);
        }
    }
    let set = |columns: &[usize]| {
        let mut columns = columns.to_vec();
        columns.sort();
        columns
    };
    let taken = keys.iter().any(|k| set(&k.columns) == set(&chosen));
    (!taken).then(|| Key {
        name,
        columns: chosen,
        unique: true,
        nulls_equal: random.index(3) == 0,
        constraint,
    })
}

/// A value of a small domain.
fn value(random: &mut Random, kind: Kind) -> Cell {
    match kind {
        Kind::Integer => Cell::Int(random.below(16) as i64 - 1),
        Kind::Decimal => Cell::Int(50 * (random.below(12) as i64 - 3)),
        Kind::Text => Cell::Text(TEXTS[random.index(TEXTS.len())].to_string()),
    }
}

struct Generator {
    random: Random,
    /// What the statements so far lead to, where PostgreSQL leaves it open: to success.
    model: Model,
    statements: Vec<Statement>,
    /// Indexes made so far.
    indexes: usize,
}

impl Generator {
    fn push(&mut self, statement: Statement) {
        let Some(prediction) = self.model.predict(&statement) else {
            return;
        };
        match prediction.done {
            Some(done) => self.model = *done.model,
            None => self.model.failed(),
        }
        self.statements.push(statement);
    }

    fn state(&self) -> &State {
        self.model.state()
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.random.below(n) == 0
    }

    /// What comes between changes of rows.
    fn between(&mut self, half: bool, frozen: bool) {
        if half {
            if self.model.is_inside() {
                self.push(Statement::Commit);
            }
            self.push(Statement::Freeze);
        }
        let name = SAVEPOINTS[self.random.index(SAVEPOINTS.len())];
        let statement = match self.random.below(60) {
            0..20 if self.model.is_failed() => Statement::RollbackTo(name),
            20..40 if self.model.is_failed() => Statement::Rollback,
            0..6 if !self.model.is_inside() => Statement::Begin,
            0..3 => Statement::Commit,
            3..5 => Statement::Rollback,
            6..13 if self.model.is_inside() => Statement::Savepoint(name),
            13..17 if self.model.is_inside() => Statement::RollbackTo(name),
            17 | 18 if self.model.is_inside() => Statement::Release(name),
            19 => Statement::Truncate,
            20 | 21 => self.create_index(),
            22 => self.drop_index(),
            23..26 if frozen => Statement::Freeze,
            26 => Statement::RollbackTo(name),
            _ => return,
        };
        self.push(statement);
    }

    fn create_index(&mut self) -> Statement {
        let (name, keys) = (format!("i{}", self.indexes), self.state().keys.clone());
        let columns = self.model.shape().columns.clone();
        self.indexes += 1;
        match key(&mut self.random, &columns, &keys, name, false) {
            Some(mut key) => {
                key.unique = !self.one_in(3);
                key.nulls_equal &= key.unique;
                Statement::CreateIndex(key)
            }
            None => Statement::Truncate,
        }
    }

    fn drop_index(&mut self) -> Statement {
        let keys = &self.model.state().keys;
        match keys.len() {
            0 => Statement::DropIndex("nowhere".to_string()),
            n => Statement::DropIndex(keys[self.random.index(n)].name.clone()),
        }
    }

    /// A change of rows; the first ones fill the table.
    fn change(&mut self, at: usize) -> Statement {
        let returning = self.one_in(4);
        let change = match self.random.below(100) {
            _ if at < 3 => self.insert(8),
            0..28 => self.insert(3),
            28..50 => self.upsert(),
            50..55 => self.insert_own(),
            55..85 => self.update(),
            _ => self.delete(),
        };
        Statement::Change(change, returning)
    }

    /// A value for a column: of the domain, or one that a row has, or NULL, or rarely a text that is too long.
    fn cell(&mut self, column: usize) -> Cell {
        let Column { kind, not_null, .. } = self.model.shape().columns[column];
        match self.random.below(40) {
            0 => Cell::Null,
            1..5 if !not_null => Cell::Null,
            5 if kind == Kind::Text => Cell::Text("much too long".to_string()),
            6..15 => self.some_row().map_or(Cell::Null, |row| row[column].clone()),
            _ => value(&mut self.random, kind),
        }
    }

    fn some_row(&mut self) -> Option<Row> {
        let rows = self.model.state().rows.len();
        let at = self.random.index(rows);
        self.state().rows.values().nth(at).cloned()
    }

    fn columns(&self) -> usize {
        self.model.shape().columns.len()
    }

    fn new_row(&mut self) -> Vec<Option<Cell>> {
        let cells = (0..self.columns()).map(|c| {
            let default = self.one_in(12);
            (!default).then(|| self.cell(c))
        });
        cells.collect()
    }

    fn values(&mut self, most: usize) -> Source {
        let rows = 1 + self.random.index(most);
        Source::Values((0..rows).map(|_| self.new_row()).collect())
    }

    fn insert(&mut self, most: usize) -> Change {
        let conflict = (most > 3).then_some(Conflict {
            arbiter: None,
            action: OnConflict::Nothing,
        });
        Change::Insert(self.values(most), conflict)
    }

    fn upsert(&mut self) -> Change {
        let keys: Vec<Key> = self.state().keys.iter().filter(|k| k.unique).cloned().collect();
        let source = self.values(4);
        if keys.is_empty() || self.one_in(6) {
            let action = OnConflict::Nothing;
            return Change::Insert(
                source,
                Some(Conflict {
                    arbiter: None,
                    action,
                }),
            );
        }
        let arbiter = Some(keys[self.random.index(keys.len())].clone());
        let action = match self.one_in(3) {
            true => OnConflict::Nothing,
            false => {
                let condition = match self.one_in(3) {
                    true => self.condition(),
                    false => Condition::All,
                };
                OnConflict::Update(self.set(Some(()), None), condition)
            }
        };
        Change::Insert(source, Some(Conflict { arbiter, action }))
    }

    fn insert_own(&mut self) -> Change {
        let list = (0..self.columns()).map(|c| self.expression(c, None, None));
        let list: Vec<Expression> = list.collect();
        // DEFAULT is not an expression of a query.
        let list = list.into_iter().enumerate().map(|(c, e)| match e {
            Expression::Default => Expression::Column(c),
            e => e,
        });
        let list = list.collect();
        let conflict = self.one_in(3).then_some(Conflict {
            arbiter: None,
            action: OnConflict::Nothing,
        });
        Change::Insert(Source::Own(list, self.condition()), conflict)
    }

    fn update(&mut self) -> Change {
        let mapping = self.one_in(5).then(|| self.mapping());
        let set = self.set(None, mapping.as_ref().map(|m| m.kind));
        let condition = match (&mapping, self.random.below(8)) {
            (Some(_), 0..5) | (None, 0) => Condition::All,
            _ => self.condition(),
        };
        Change::Update(set, condition, mapping)
    }

    fn delete(&mut self) -> Change {
        let mapping = self.one_in(5).then(|| self.mapping());
        let condition = self.condition();
        // Deletes few rows, else the table is empty most of the time.
        let condition = Condition::Both(Box::new(condition), Box::new(self.condition()));
        Change::Delete(condition, mapping)
    }

    fn mapping(&mut self) -> Mapping {
        let on = self.random.index(self.columns());
        let kinds: Vec<Kind> = self.model.shape().columns.iter().map(|c| c.kind).collect();
        let target = self.random.index(kinds.len());
        let mut pairs: Vec<(Cell, Cell)> = Vec::new();
        for _ in 0..1 + self.random.index(3) {
            let (k, v) = (value(&mut self.random, kinds[on]), self.cell(target));
            if pairs.iter().all(|(other, _)| *other != k) {
                pairs.push((k, v));
            }
        }
        Mapping {
            on,
            kind: kinds[target],
            pairs,
        }
    }

    /// One to three columns with their new values.
    fn set(&mut self, excluded: Option<()>, mapped: Option<Kind>) -> Vec<(usize, Expression)> {
        let mut set: Vec<(usize, Expression)> = Vec::new();
        for _ in 0..1 + self.random.index(3) {
            let column = self.random.index(self.columns());
            if set.iter().all(|(c, _)| *c != column) {
                let e = self.expression(column, excluded, mapped);
                set.push((column, e));
            }
        }
        set
    }

    /// A value for column `to`.
    fn expression(&mut self, to: usize, excluded: Option<()>, mapped: Option<Kind>) -> Expression {
        let columns = self.model.shape().columns.clone();
        let kind = columns[to].kind;
        let same: Vec<usize> = (0..columns.len()).filter(|c| columns[*c].kind == kind).collect();
        let other = same[self.random.index(same.len())];
        if mapped == Some(kind) && self.one_in(2) {
            return Expression::Mapped;
        }
        if excluded.is_some() && self.one_in(2) {
            return Expression::Excluded(other);
        }
        match (self.random.below(12), kind) {
            (0, _) => Expression::Default,
            (1..5, _) => Expression::Constant(self.cell(to)),
            (5, _) => Expression::Column(other),
            (6 | 7, Kind::Integer) => Expression::Ratio(other, self.random.below(20) as i64 - 2),
            (_, Kind::Text) => {
                let text = ["x", "yy", ""][self.random.index(3)];
                Expression::Join(Box::new(Expression::Column(other)), text)
            }
            (_, _) => {
                let steps = [1, 1, -1, 7, 100];
                let unit = if kind == Kind::Decimal { 50 } else { 1 };
                let step = steps[self.random.index(steps.len())] * unit;
                Expression::Plus(Box::new(Expression::Column(other)), step)
            }
        }
    }

    fn condition(&mut self) -> Condition {
        let column = self.random.index(self.columns());
        let kind = self.model.shape().columns[column].kind;
        match self.random.below(10) {
            0 => Condition::IsNull(column),
            1 | 2 => {
                let cells = (0..1 + self.random.index(4)).map(|_| value(&mut self.random, kind));
                Condition::In(column, cells.collect())
            }
            3 | 4 if kind != Kind::Text => match value(&mut self.random, kind) {
                Cell::Int(n) => Condition::Below(column, n),
                _ => Condition::All,
            },
            5 | 6 => {
                let modulus = 2 + self.random.below(4) as i64;
                Condition::Rest(0, modulus, self.random.below(modulus as u64) as i64)
            }
            _ => match self.some_row() {
                Some(row) if self.one_in(2) => Condition::Equal(column, row[column].clone()),
                _ => Condition::Equal(column, value(&mut self.random, kind)),
            },
        }
    }
}
