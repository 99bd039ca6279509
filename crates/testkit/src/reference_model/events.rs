//! Writes of rows, the queue of events that they fill, and what each event does.

use super::{Action, Cell, Code, Deferrable, ForeignKey, Row, Seen, World};
use crate::Random;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Events of a statement that may be a cycle of actions without an end.
const MANY: usize = 5_000;
/// In place of a SQLSTATE after [`MANY`] events: no prediction.
pub const ENDLESS: Code = "endless";

/// An order in which a statement and its actions meet rows.
#[derive(Clone, Debug)]
pub enum Order {
    /// As they were written.
    Forward,
    /// The reverse.
    Backward,
    /// Any other.
    Shuffled(Random),
}

impl Order {
    /// Puts rows in this order.
    pub fn sort<T>(&mut self, rows: &mut [T]) {
        match self {
            Order::Forward => {}
            Order::Backward => rows.reverse(),
            Order::Shuffled(random) => {
                for at in (1..rows.len()).rev() {
                    rows.swap(at, random.index(at + 1));
                }
            }
        }
    }
}

/// Modes that SET CONSTRAINTS gave constraints in this transaction.
#[derive(Clone, Debug, Default)]
pub struct Modes {
    /// True if SET CONSTRAINTS ALL deferred them, until it is said of one.
    pub all: Option<bool>,
    /// True if the constraint of a number was deferred afterwards.
    pub named: BTreeMap<u64, bool>,
}

impl Modes {
    /// A constraint is deferred now.
    pub fn is_deferred(&self, number: u64, deferrable: Deferrable) -> bool {
        let Some(initially) = deferrable else {
            return false;
        };
        let named = self.named.get(&number).copied();
        named.or(self.all).unwrap_or(initially)
    }
}

/// A check or action that is due.
#[derive(Clone, Debug)]
pub struct Event {
    /// The constraint.
    pub constraint: u64,
    /// Table whose row was written.
    pub table: usize,
    /// Tables that were written one because of the other, from the statement's to this one.
    path: Vec<usize>,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// A row of a deferrable unique key, by its version.
    Unique(u64),
    /// A row that refers, by its version.
    Child(u64),
    /// A key that is gone, and what it became if the row was updated.
    Parent(Vec<Cell>, Option<Vec<Cell>>),
}

/// A statement while it runs.
pub struct Run {
    /// The tables.
    pub world: World,
    /// Events of this statement.
    pub queue: VecDeque<Event>,
    /// Events that wait for COMMIT.
    pub deferred: Vec<Event>,
    /// Modes of the constraints: they decide which events wait.
    pub modes: Modes,
    /// The order of rows.
    pub order: Order,
    /// Counts of events that did something.
    pub seen: Seen,
}

impl Run {
    /// Adds a row; 23502 and 23505.
    pub fn insert(&mut self, table: usize, cells: Vec<Cell>, path: &[usize]) -> Result<u64, Code> {
        let version = self.put(table, cells)?;
        let keys = self.keys(|k| k.child == table);
        keys.iter().for_each(|k| self.child(k, version, path));
        self.recheck(table, version, path);
        Ok(version)
    }

    /// Changes a row; 23502 and 23505. Returns the new version.
    pub fn update(
        &mut self,
        table: usize,
        version: u64,
        cells: Vec<Cell>,
        path: &[usize],
    ) -> Result<u64, Code> {
        let old = self.take(table, version);
        let new = self.put(table, cells)?;
        let cells = self.world.tables[table]
            .rows
            .last()
            .expect("it was put")
            .cells
            .clone();
        for key in self.keys(|k| k.parent == table) {
            let values = |cells: &[Cell]| self.world.tables[table].values(&key.key, cells);
            let (before, after) = (values(&old.cells), values(&cells));
            if before != after {
                self.parent(&key, before, Some(after), path);
            }
        }
        for key in self.keys(|k| k.child == table) {
            let values = |cells: &[Cell]| self.world.tables[table].values(&key.columns, cells);
            let (before, after) = (values(&old.cells), values(&cells));
            let nulls = after.iter().filter(|c| c.is_none()).count();
            let is_due = match nulls {
                0 => old.own || before != after,
                n => key.full && n < after.len(),
            };
            if is_due {
                self.child(&key, new, path);
            }
        }
        self.recheck(table, new, path);
        Ok(new)
    }

    /// Removes a row.
    pub fn delete(&mut self, table: usize, version: u64, path: &[usize]) {
        let old = self.take(table, version);
        for key in self.keys(|k| k.parent == table) {
            let values = self.world.tables[table].values(&key.key, &old.cells);
            self.parent(&key, values, None, path);
        }
    }

    fn keys(&self, of: impl Fn(&ForeignKey) -> bool) -> Vec<ForeignKey> {
        self.world
            .foreign_keys
            .iter()
            .filter(|k| of(k))
            .cloned()
            .collect()
    }

    fn take(&mut self, table: usize, version: u64) -> Row {
        let rows = &mut self.world.tables[table].rows;
        let at = rows
            .iter()
            .position(|r| r.version == version)
            .expect("a living row");
        rows.remove(at)
    }

    /// Computes generated columns, checks NOT NULL and the keys that are not deferrable, and adds the row.
    fn put(&mut self, table: usize, mut cells: Vec<Cell>) -> Result<u64, Code> {
        let version = self.world.number();
        let t = &mut self.world.tables[table];
        for (at, column) in t.columns.iter().enumerate() {
            if let Some(source) = column.doubles {
                cells[at] = cells[t.at(source).expect("what it reads")].map(|n| 2 * n);
            }
        }
        if t.columns
            .iter()
            .zip(&cells)
            .any(|(c, cell)| c.not_null && cell.is_none())
        {
            return Err("23502");
        }
        if let Err(code) = t.check(&cells) {
            self.count("CHECK violation");
            return Err(code);
        }
        if t.meets_in_index(&cells, version) {
            self.count("unique index violation");
            return Err("23505");
        }
        for key in t.keys.iter().filter(|k| k.deferrable.is_none()) {
            if t.meets(&key.columns, &cells, version) {
                return Err("23505");
            }
        }
        let own = true;
        t.rows.push(Row { version, own, cells });
        Ok(version)
    }

    /// Queues the recheck of deferrable unique keys that another row has, too.
    fn recheck(&mut self, table: usize, version: u64, path: &[usize]) {
        let t = &self.world.tables[table];
        let cells = &t.rows.last().expect("it was put").cells;
        let keys = t.keys.iter().filter(|k| k.deferrable.is_some());
        let met = keys.filter(|k| t.meets(&k.columns, cells, version));
        let met: Vec<(u64, Deferrable)> = met.map(|k| (k.number, k.deferrable)).collect();
        for (number, deferrable) in met {
            self.append(number, deferrable, table, path, Kind::Unique(version));
        }
    }

    fn child(&mut self, key: &ForeignKey, version: u64, path: &[usize]) {
        self.append(key.number, key.deferrable, key.child, path, Kind::Child(version));
    }

    fn parent(&mut self, key: &ForeignKey, old: Vec<Cell>, new: Option<Vec<Cell>>, path: &[usize]) {
        if old.contains(&None) {
            return;
        }
        let action = if new.is_some() {
            &key.on_update
        } else {
            &key.on_delete
        };
        // Other actions are never put off.
        let deferrable = key.deferrable.filter(|_| *action == Action::NoAction);
        self.append(key.number, deferrable, key.parent, path, Kind::Parent(old, new));
    }

    fn append(&mut self, constraint: u64, deferrable: Deferrable, table: usize, path: &[usize], kind: Kind) {
        let event = Event {
            constraint,
            table,
            path: path.to_vec(),
            kind,
        };
        match self.modes.is_deferred(constraint, deferrable) {
            true => self.deferred.push(event),
            false => self.queue.push_back(event),
        }
    }

    /// Works the queue off.
    pub fn finish(&mut self) -> Result<(), Code> {
        for _ in 0..MANY {
            match self.queue.pop_front() {
                Some(event) => self.fire(event)?,
                None => return Ok(()),
            }
        }
        Err(ENDLESS)
    }

    /// Checks what was deferred of the constraints that `due` holds for.
    pub fn finish_deferred(&mut self, due: impl Fn(&Event) -> bool) -> Result<(), Code> {
        let (now, later) = std::mem::take(&mut self.deferred).into_iter().partition(due);
        self.deferred = later;
        self.queue = VecDeque::from(now);
        self.finish().inspect_err(|_| self.count("deferred violation"))
    }

    /// Counts something that happened.
    pub fn count(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    fn fire(&mut self, event: Event) -> Result<(), Code> {
        match &event.kind {
            Kind::Unique(version) => self.fire_unique(&event, *version),
            Kind::Child(version) => {
                let key = self.key(&event);
                self.fire_child(&key, *version)
            }
            Kind::Parent(old, new) => {
                let key = self.key(&event);
                self.fire_parent(&key, old, new.as_deref(), &event.path)
            }
        }
    }

    fn key(&self, event: &Event) -> ForeignKey {
        let mut keys = self.world.foreign_keys.iter();
        keys.find(|k| k.number == event.constraint)
            .expect("its events are done")
            .clone()
    }

    fn fire_unique(&mut self, event: &Event, version: u64) -> Result<(), Code> {
        let t = &self.world.tables[event.table];
        let key = t
            .keys
            .iter()
            .find(|k| k.number == event.constraint)
            .expect("its events are done");
        let row = t.rows.iter().find(|r| r.version == version);
        match row.is_some_and(|row| t.meets(&key.columns, &row.cells, version)) {
            true => Err("23505"),
            false => Ok(()),
        }
    }

    fn fire_child(&mut self, key: &ForeignKey, version: u64) -> Result<(), Code> {
        let child = &self.world.tables[key.child];
        let Some(row) = child.rows.iter().find(|r| r.version == version) else {
            return Ok(());
        };
        if key.is_satisfied(&self.world, &row.cells) {
            return Ok(());
        }
        let mixed = child.values(&key.columns, &row.cells).contains(&None);
        self.count(if mixed {
            "MATCH FULL violation"
        } else {
            "child without parent"
        });
        Err("23503")
    }

    fn fire_parent(
        &mut self,
        key: &ForeignKey,
        old: &[Cell],
        new: Option<&[Cell]>,
        path: &[usize],
    ) -> Result<(), Code> {
        let action = if new.is_some() {
            &key.on_update
        } else {
            &key.on_delete
        };
        let mut children = self.children(key, old);
        if children.is_empty() {
            return Ok(());
        }
        self.order.sort(&mut children);
        let name = action.name(new.is_some());
        let path: Vec<usize> = path.iter().copied().chain([key.child]).collect();
        let columns = match action {
            Action::NoAction if self.has_key(key, old) => return Ok(()),
            Action::NoAction | Action::Restrict => {
                self.count(name);
                return Err("23503");
            }
            Action::Cascade => &key.columns,
            Action::SetNull(columns) | Action::SetDefault(columns) if !columns.is_empty() => columns,
            Action::SetNull(_) | Action::SetDefault(_) => &key.columns,
        };
        self.count(name);
        if path.iter().collect::<BTreeSet<_>>().len() >= 3 {
            self.count("action over three tables");
        }
        for (version, mut cells) in children {
            if let (Action::Cascade, None) = (action, new) {
                self.delete(key.child, version, &path);
                continue;
            }
            let child = &self.world.tables[key.child];
            for (nth, id) in columns.iter().enumerate() {
                let at = child.at(*id).expect("a column of the key");
                cells[at] = match (action, new) {
                    (Action::Cascade, Some(new)) => new[nth],
                    (Action::SetDefault(_), _) => child.columns[at].default,
                    _ => None,
                };
            }
            self.update(key.child, version, cells, &path)?;
        }
        // A child whose default is the old key refers to nothing now.
        let stays = matches!(action, Action::SetDefault(_))
            && !self.has_key(key, old)
            && !self.children(key, old).is_empty();
        if stays { Err("23503") } else { Ok(()) }
    }

    fn has_key(&self, key: &ForeignKey, values: &[Cell]) -> bool {
        let parent = &self.world.tables[key.parent];
        parent
            .rows
            .iter()
            .any(|r| parent.values(&key.key, &r.cells) == values)
    }

    /// Versions and cells of the rows that refer to a key.
    fn children(&self, key: &ForeignKey, values: &[Cell]) -> Vec<(u64, Vec<Cell>)> {
        let child = &self.world.tables[key.child];
        let refer = child
            .rows
            .iter()
            .filter(|r| child.values(&key.columns, &r.cells) == values);
        refer.map(|r| (r.version, r.cells.clone())).collect()
    }
}

impl super::Table {
    /// Another row than `version` has the same values under a key; NULLs are distinct.
    pub fn meets(&self, columns: &[usize], cells: &[Cell], version: u64) -> bool {
        let values = self.values(columns, cells);
        let other = |r: &Row| r.version != version && self.values(columns, &r.cells) == values;
        !values.contains(&None) && self.rows.iter().any(other)
    }
}

impl ForeignKey {
    /// A row of the child has its parent, or NULLs that excuse it.
    pub fn is_satisfied(&self, world: &World, cells: &[Cell]) -> bool {
        let values = world.tables[self.child].values(&self.columns, cells);
        let parent = &world.tables[self.parent];
        match values.iter().filter(|c| c.is_none()).count() {
            0 => parent
                .rows
                .iter()
                .any(|r| parent.values(&self.key, &r.cells) == values),
            n => !self.full || n == values.len(),
        }
    }
}

impl Action {
    /// The action's name among what was [`Seen`].
    fn name(&self, update: bool) -> &'static str {
        match (self, update) {
            (Action::NoAction, false) => "ON DELETE NO ACTION",
            (Action::Restrict, false) => "ON DELETE RESTRICT",
            (Action::Cascade, false) => "ON DELETE CASCADE",
            (Action::SetNull(_), false) => "ON DELETE SET NULL",
            (Action::SetDefault(_), false) => "ON DELETE SET DEFAULT",
            (Action::NoAction, true) => "ON UPDATE NO ACTION",
            (Action::Restrict, true) => "ON UPDATE RESTRICT",
            (Action::Cascade, true) => "ON UPDATE CASCADE",
            (Action::SetNull(_), true) => "ON UPDATE SET NULL",
            (Action::SetDefault(_), true) => "ON UPDATE SET DEFAULT",
        }
    }
}
