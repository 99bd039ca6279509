//! ALTER TABLE, TRUNCATE and CREATE INDEX of the model.

use super::events::Event;
use super::statement::{Alter, Statement};
use super::{Code, Column, ForeignKey, UniqueKey, World};
use std::collections::BTreeSet;

impl World {
    /// Position of the table that has a constraint.
    pub fn table_of(&self, number: u64) -> Option<usize> {
        let of_key = self.tables.iter().position(|t| {
            let is_check = t.checks.iter().any(|check| check.number == number);
            is_check || t.keys.iter().any(|k| k.number == number)
        });
        let keys = self.foreign_keys.iter();
        of_key.or_else(|| keys.clone().find(|k| k.number == number).map(|k| k.child))
    }

    /// Changes definitions. `pending` are the events that wait for COMMIT. The outer `None`: no prediction.
    pub fn define(&mut self, statement: &Statement, pending: &[Event]) -> Option<Result<(), Code>> {
        let in_use = |table: usize| pending.iter().any(|e| e.table == table);
        match statement {
            Statement::Truncate(tables, cascade) => Some(self.truncate(tables, *cascade, &in_use)),
            Statement::CreateIndex(_, table, _) => Some(if in_use(*table) { Err("55006") } else { Ok(()) }),
            Statement::Alter(at, Alter::RenameColumn(id, name)) => {
                let table = &mut self.tables[*at];
                let column = table.at(*id)?;
                if table.columns.iter().any(|c| c.name == *name) {
                    return Some(Err("42701"));
                }
                table.columns[column].name.clone_from(name);
                Some(Ok(()))
            }
            Statement::Alter(at, Alter::Rename(name)) => {
                let schema = self.tables[*at].schema;
                if self.tables.iter().any(|t| t.schema == schema && t.name == *name) {
                    return Some(Err("42P07"));
                }
                self.tables[*at].name.clone_from(name);
                Some(Ok(()))
            }
            Statement::Alter(at, _) if in_use(*at) => Some(Err("55006")),
            Statement::Alter(at, alter) => {
                let done = self.alter_constraint(*at, alter);
                done.or_else(|| self.alter(*at, alter, &in_use))
            }
            _ => self.define_object(statement, &in_use),
        }
    }

    fn truncate(
        &mut self,
        named: &[usize],
        cascade: bool,
        in_use: &dyn Fn(usize) -> bool,
    ) -> Result<(), Code> {
        let mut tables: BTreeSet<usize> = named.iter().copied().collect();
        loop {
            let refer = self.foreign_keys.iter().filter(|k| tables.contains(&k.parent));
            let more: Vec<usize> = refer.map(|k| k.child).filter(|c| !tables.contains(c)).collect();
            if more.is_empty() || !cascade {
                if named.iter().copied().any(in_use) || tables.iter().copied().any(in_use) {
                    return Err("55006");
                }
                if !more.is_empty() {
                    return Err("0A000");
                }
                break;
            }
            tables.extend(more);
        }
        tables.iter().for_each(|t| self.tables[*t].rows.clear());
        Ok(())
    }

    fn alter(
        &mut self,
        at: usize,
        alter: &Alter,
        in_use: &dyn Fn(usize) -> bool,
    ) -> Option<Result<(), Code>> {
        let table = &mut self.tables[at];
        match alter {
            Alter::AddForeignKey(key) => return Some(self.add_foreign_key(key)),
            Alter::AddUnique(number, columns, deferrable) => {
                let met = |r: &super::Row| table.meets(columns, &r.cells, r.version);
                if table.rows.iter().any(met) {
                    return Some(Err("23505"));
                }
                table.keys.push(UniqueKey {
                    number: *number,
                    columns: columns.clone(),
                    deferrable: *deferrable,
                });
            }
            Alter::DropConstraint(number) => return self.drop_constraint(at, *number, in_use),
            Alter::Validate(number) => {
                let key = self.foreign_keys.iter().position(|k| k.number == *number)?;
                if let Err(e) = self.holds(&self.foreign_keys[key]) {
                    return Some(Err(e));
                }
                self.foreign_keys[key].valid = true;
            }
            Alter::AddColumn(id, name, default, not_null) => {
                if table.columns.iter().any(|c| c.name == *name) {
                    return Some(Err("42701"));
                }
                if *not_null && default.is_none() && !table.rows.is_empty() {
                    return Some(Err("23502"));
                }
                table.columns.push(Column {
                    id: *id,
                    name: name.clone(),
                    wide: false,
                    not_null: *not_null,
                    default: *default,
                    doubles: None,
                });
                table.rows.iter_mut().for_each(|r| r.cells.push(*default));
            }
            Alter::DropColumn(id, cascade) => return self.drop_column(at, *id, *cascade, in_use),
            Alter::Type(id, wide, halved) => return self.set_type(at, *id, *wide, *halved),
            Alter::SetDefault(id, cell) => {
                let column = table.at(*id)?;
                if table.columns[column].doubles.is_some() {
                    return Some(Err("42601"));
                }
                table.columns[column].default = *cell;
            }
            Alter::RenameColumn(..) | Alter::Rename(_) | Alter::AddCheck(_) | Alter::Defer(..) => {
                return None;
            }
        }
        Some(Ok(()))
    }

    fn holds(&self, key: &ForeignKey) -> Result<(), Code> {
        let rows = &self.tables[key.child].rows;
        match rows.iter().all(|r| key.is_satisfied(self, &r.cells)) {
            true => Ok(()),
            false => Err("23503"),
        }
    }

    fn add_foreign_key(&mut self, key: &ForeignKey) -> Result<(), Code> {
        let same = |k: &&UniqueKey| {
            let wanted: BTreeSet<_> = key.key.iter().collect();
            k.columns.iter().collect::<BTreeSet<_>>() == wanted
        };
        match self.tables[key.parent].keys.iter().find(same) {
            None => return Err("42830"),
            Some(k) if k.deferrable.is_some() => return Err("55000"),
            Some(_) => {}
        }
        if key.valid {
            self.holds(key)?;
        }
        self.foreign_keys.push(key.clone());
        Ok(())
    }

    fn drop_constraint(
        &mut self,
        at: usize,
        number: u64,
        in_use: &dyn Fn(usize) -> bool,
    ) -> Option<Result<(), Code>> {
        if let Some(key) = self.foreign_keys.iter().position(|k| k.number == number) {
            if in_use(self.foreign_keys[key].parent) {
                return Some(Err("55006"));
            }
            self.foreign_keys.remove(key);
            return Some(Ok(()));
        }
        let key = self.tables[at].keys.iter().position(|k| k.number == number)?;
        let columns: BTreeSet<usize> = self.tables[at].keys[key].columns.iter().copied().collect();
        let refers =
            |k: &ForeignKey| k.parent == at && k.key.iter().copied().collect::<BTreeSet<_>>() == columns;
        if self.foreign_keys.iter().any(refers) {
            return Some(Err("2BP01"));
        }
        self.tables[at].keys.remove(key);
        Some(Ok(()))
    }

    /// Drops a column and its constraints. Without CASCADE, 2BP01 if a generated column reads it or a foreign key
    /// refers to it that does not go with the column itself.
    fn drop_column(
        &mut self,
        at: usize,
        id: usize,
        cascade: bool,
        in_use: &dyn Fn(usize) -> bool,
    ) -> Option<Result<(), Code>> {
        let table = &self.tables[at];
        table.at(id)?;
        let readers = table
            .columns
            .iter()
            .filter(|c| c.doubles == Some(id))
            .map(|c| c.id);
        let gone: BTreeSet<usize> = [id].into_iter().chain(readers).collect();
        let own =
            |k: &ForeignKey, of: &BTreeSet<usize>| k.child == at && k.columns.iter().any(|c| of.contains(c));
        let refers = |k: &ForeignKey| k.parent == at && k.key.iter().any(|c| gone.contains(c));
        let just = BTreeSet::from([id]);
        let is_viewed = self.is_viewed(at, |id| gone.contains(&id));
        let dependent =
            is_viewed || gone.len() > 1 || self.foreign_keys.iter().any(|k| refers(k) && !own(k, &just));
        if dependent && !cascade {
            return Some(Err("2BP01"));
        }
        // PostgreSQL forgets the triggers of events that still wait.
        let dropped = |k: &ForeignKey| refers(k) || own(k, &gone);
        if (self.foreign_keys.iter().filter(|k| dropped(k))).any(|k| in_use(k.parent) || in_use(k.child)) {
            return None;
        }
        self.foreign_keys.retain(|k| !(refers(k) || own(k, &gone)));
        gone.iter().for_each(|id| self.drop_readers(at, *id));
        let table = &mut self.tables[at];
        table.keys.retain(|k| !k.columns.iter().any(|c| gone.contains(c)));
        for id in gone {
            let column = table.at(id).expect("it was there");
            table.columns.remove(column);
            for row in &mut table.rows {
                row.cells.remove(column);
            }
        }
        Some(Ok(()))
    }

    fn set_type(&mut self, at: usize, id: usize, wide: bool, halved: bool) -> Option<Result<(), Code>> {
        let named = |k: &ForeignKey| {
            k.child == at && k.columns.contains(&id) || k.parent == at && k.key.contains(&id)
        };
        if self.foreign_keys.iter().any(named) {
            return None;
        }
        let table = &mut self.tables[at];
        let column = table.at(id)?;
        if table.columns[column].doubles.is_some() {
            return None;
        }
        if table.columns.iter().any(|c| c.doubles == Some(id)) {
            return Some(Err("0A000"));
        }
        if self.is_viewed(at, |column| column == id) {
            return Some(Err("0A000"));
        }
        let table = &mut self.tables[at];
        table.columns[column].wide = wide;
        if halved {
            for row in &mut table.rows {
                row.cells[column] = row.cells[column].map(|n| n / 2);
            }
        }
        let twice = |k: &UniqueKey| {
            table
                .rows
                .iter()
                .any(|r| table.meets(&k.columns, &r.cells, r.version))
        };
        let key = |k: &&UniqueKey| k.columns.contains(&id);
        let is_twice = table.keys.iter().filter(key).any(twice);
        match self.retype_objects(at, id)? {
            Ok(()) if is_twice => Some(Err("23505")),
            // One or the other.
            Err("23514") if is_twice => None,
            result => Some(result),
        }
    }
}
