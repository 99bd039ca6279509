//! Columns come to a table and go. Constraints, indexes, options and views know columns by their positions: those behind a column
//! that goes move up.

use crate::dependents::{Part, Within};
use crate::{Catalog, ConstraintKind, DropBehavior, IndexEntry, Relation, SearchPath, TableEntry, ViewEntry};
use frazil_types::{ColumnDef, ColumnDefault, ColumnNumber, Error, ObjectId, Result, SqlState};
use std::sync::Arc;

impl TableEntry {
    /// Adds a column behind the others, and gives it a number. 42701; 0A000 for a type that no column has.
    pub(crate) fn add_column(&mut self, column: ColumnDef) -> Result<()> {
        self.refuse_second_column(&column.name)?;
        if !column.ty.info().is_stored {
            return Err(Error::unsupported(format!(
                "column \"{}\" of type {}",
                column.name, column.ty
            )));
        }
        self.last_column = ColumnNumber(self.last_column.0 + 1);
        let (number, before) = (self.last_column, self.schema.columns.len());
        (Arc::make_mut(&mut self.schema).columns).push(ColumnDef { number, ..column });
        self.follow_visible(before);
        Ok(())
    }

    /// 42701 if the table has a column of the name.
    pub(crate) fn refuse_second_column(&self, name: &str) -> Result<()> {
        match self.schema.index_of(name) {
            Some(_) => {
                let message = format!("column \"{name}\" of relation \"{}\" already exists", self.name);
                Err(Error::new(SqlState::DUPLICATE_COLUMN, message))
            }
            None => Ok(()),
        }
    }

    /// Removes the default of a column.
    pub(crate) fn remove_default(&mut self, number: ColumnNumber) {
        let mut columns = Arc::make_mut(&mut self.schema).columns.iter_mut();
        if let Some(column) = columns.find(|column| column.number == number) {
            column.default = None;
        }
    }

    /// Removes those of some parts that are defaults of the table's columns.
    pub(crate) fn remove_defaults(&mut self, parts: &[Part]) {
        let id = self.id;
        for part in parts.iter().filter(|part| part.id == id) {
            if let Within::Default(column) = part.within {
                self.remove_default(column);
            }
        }
    }

    /// Takes a column away, with the constraints and indexes that name it.
    fn remove_column(&mut self, column: usize) {
        let left = |position: &usize| *position != column;
        let moved = |position: usize| position - usize::from(position > column);
        let number = self.schema.columns[column].number;
        let names = |index: &&Arc<IndexEntry>| self.index_needs(index, column);
        let gone: Vec<ObjectId> = self.indexes.iter().filter(names).map(|i| i.id).collect();
        self.indexes.retain(|index| !gone.contains(&index.id));
        self.drop_unused_hidden();
        for hidden in &mut self.hidden {
            if let Some(ColumnDefault::Generated { reads, .. }) = &mut hidden.default {
                reads.iter_mut().for_each(|position| *position = moved(*position));
            }
        }
        for index in self.indexes.iter_mut().map(Arc::make_mut) {
            index
                .keys
                .iter_mut()
                .for_each(|key| key.column = moved(key.column));
            index.condition = index.condition.map(moved);
            index
                .include
                .iter_mut()
                .for_each(|position| *position = moved(*position));
        }
        self.constraints
            .retain_mut(|constraint| match &mut constraint.kind {
                ConstraintKind::PrimaryKey { index } | ConstraintKind::Unique { index } => {
                    !gone.contains(index)
                }
                ConstraintKind::Check { columns, .. } => {
                    let stays = columns.iter().all(left);
                    columns
                        .iter_mut()
                        .for_each(|position| *position = moved(*position));
                    stays
                }
                ConstraintKind::ForeignKey(key) => !key.columns.contains(&number),
            });
        let asked = std::mem::take(&mut self.options.columns).into_iter();
        let asked = asked.filter(|(position, _)| left(position));
        self.options.columns = asked.map(|(position, asked)| (moved(position), asked)).collect();
        Arc::make_mut(&mut self.schema).remove(column);
    }
}

impl Catalog {
    /// The next version, in which a table, whose entry so far is given, has a column less; and views are gone that read it, if they
    /// may be.
    pub(crate) fn drop_column(
        &self,
        mut entry: TableEntry,
        column: usize,
        (behavior, path): (DropBehavior, &SearchPath),
        readers: &[ObjectId],
    ) -> Result<(Catalog, Arc<TableEntry>)> {
        let name = entry.schema.columns[column].name.clone();
        if entry.schema.columns.len() == 1 {
            let what = format!("dropping \"{name}\", the only column of table \"{}\"", entry.name);
            return Err(Error::unsupported(what).with_hint("DROP TABLE drops the table"));
        }
        let gone = Part {
            id: entry.id,
            within: Within::Column(entry.schema.columns[column].number),
        };
        let has_it = |index: &&Arc<IndexEntry>| entry.index_needs(index, column);
        let indexes: Vec<ObjectId> = entry.indexes.iter().filter(has_it).map(|i| i.id).collect();
        let more = self.dropped_with(gone, &indexes, readers, (behavior, path))?;
        entry.remove_column(column);
        let (mut next, entry) = self.with_less(entry, more);
        next.forget_column(entry.id, column);
        Ok((next, entry))
    }

    /// Describes what CASCADE drops with the last of some columns of a table, as [`Catalog::cascade`] does; the columns
    /// before it are generated from it. Each is given by its position, with the views whose queries read it. `before`:
    /// columns that the statement drops first.
    pub fn cascade_of_columns(
        &self,
        table: &TableEntry,
        columns: &[(usize, &[ObjectId])],
        before: &[usize],
        path: &SearchPath,
    ) -> Vec<String> {
        let part = |column: usize| Part {
            id: table.id,
            within: Within::Column(table.schema.columns[column].number),
        };
        let Some((last, _)) = columns.last() else {
            return Vec::new();
        };
        let has_one = |index: &&Arc<IndexEntry>| columns.iter().any(|(c, _)| table.index_needs(index, *c));
        let indexes = table.indexes.iter().filter(has_one);
        let mut gone = vec![part(*last)];
        gone.extend(indexes.map(|index| Part::whole(index.id)));
        gone.extend(before.iter().map(|column| part(*column)));
        let readers: Vec<(Part, &[ObjectId])> =
            columns.iter().map(|(c, readers)| (part(*c), *readers)).collect();
        self.cascade_of_parts(&gone, &readers, path)
    }

    /// Takes a column of a table, which no view reads, off what the queries of views see of the table.
    fn forget_column(&mut self, table: ObjectId, column: usize) {
        let sees = |r: &crate::Reading| r.id == Some(table) && column < r.columns.len();
        let reads_it = |view: &&Arc<ViewEntry>| view.reads.iter().any(sees);
        let views: Vec<Arc<ViewEntry>> = self.views().filter(reads_it).cloned().collect();
        for mut view in views {
            let reads = Arc::make_mut(&mut view).reads.iter_mut().filter(|r| sees(r));
            reads.for_each(|reading| drop(reading.columns.remove(column)));
            self.objects.put_relation(Relation::View(view));
        }
        let tables = self.tables();
        let reads_it = |of: &&Arc<TableEntry>| of.materialized.iter().any(|m| m.reads.iter().any(sees));
        let tables: Vec<Arc<TableEntry>> = tables.filter(reads_it).cloned().collect();
        for table in tables {
            let mut entry = TableEntry::clone(&table);
            if let Some(materialized) = &mut entry.materialized {
                let reads = Arc::make_mut(materialized).reads.iter_mut().filter(|r| sees(r));
                reads.for_each(|reading| drop(reading.columns.remove(column)));
            }
            self.put(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        AlterAction, BlockOptions, Catalog, Deferral, DropBehavior, ExistingView, IndexKey, NewConstraint,
        NewConstraintKind, NewIndex, NewTable, NewView, QualifiedName, Reading, Relation, SearchPath,
        TableOptions, WrittenName,
    };
    use frazil_types::{ColumnDef, ColumnNumber, LogicalType, ObjectId, Schema, SqlState};
    use std::sync::Arc;

    fn schema(names: &[&str]) -> Schema {
        let columns = names.iter().map(|n| ColumnDef::new(*n, LogicalType::Integer));
        Schema::new(columns.collect())
    }

    /// Table `t` of a, b, c with a key (a, b), a unique c, checks of b and of a and c, an index of c that includes a, and an option
    /// of c.
    fn catalog() -> (Catalog, ObjectId) {
        let unnamed = |kind| NewConstraint { name: None, kind };
        let check = |expression: &str, columns: &[usize]| NewConstraintKind::Check {
            expression: expression.to_string(),
            columns: columns.to_vec(),
            is_valid: true,
            of_domain: None,
        };
        let unique = NewConstraintKind::Unique {
            columns: vec![2],
            nulls_distinct: true,
            deferral: Deferral::Never,
        };
        let kinds = [
            NewConstraintKind::PrimaryKey {
                columns: vec![0, 1],
                deferral: Deferral::Never,
            },
            unique,
            check("b > 0", &[1]),
            check("a < c", &[0, 2]),
        ];
        let mut options = TableOptions::default();
        let asked = BlockOptions {
            layout: Some("vbp".to_string()),
            ..BlockOptions::default()
        };
        options.columns.insert(2, asked);
        let new = NewTable {
            name: "t".into(),
            schema: Arc::new(schema(&["a", "b", "c"])),
            options,
            constraints: kinds.map(unnamed).to_vec(),
        };
        let (catalog, t) = Catalog::new().create(new).unwrap();
        let index = NewIndex {
            name: Some("i".to_string()),
            if_not_exists: false,
            table: t.id,
            keys: vec![IndexKey::ascending(2)],
            include: vec![0],
            unique: false,
            nulls_distinct: true,
            hidden: Vec::new(),
            condition: None,
        };
        (catalog.create_index(index).unwrap().unwrap().0, t.id)
    }

    fn with_view(catalog: &Catalog, name: &str, reads: &str) -> (Catalog, ObjectId) {
        let read = catalog.relation(&QualifiedName::in_public(reads)).unwrap();
        let columns = match read {
            Relation::Table(table) => &table.schema,
            Relation::View(view) => &view.schema,
        };
        let view = NewView {
            name: QualifiedName::in_public(name),
            existing: ExistingView::Refuse,
            schema: schema(&["x"]),
            query: String::new(),
            reads: vec![Reading {
                name: WrittenName::unqualified(reads),
                id: Some(read.id()),
                columns: columns.columns.iter().map(|c| c.name.clone()).collect(),
            }],
        };
        let catalog = catalog.create_view(view).unwrap();
        let id = catalog.relation(&QualifiedName::in_public(name)).unwrap().id();
        (catalog, id)
    }

    fn drop_column(column: usize, behavior: DropBehavior, readers: &[ObjectId]) -> AlterAction {
        AlterAction::DropColumn {
            column,
            behavior,
            readers: readers.to_vec(),
            path: SearchPath::default(),
            is_dependent: false,
        }
    }

    #[test]
    fn what_names_a_column_goes_with_it_and_the_rest_moves_up() {
        let (catalog, t) = catalog();
        let (_, entry) = (catalog.alter_table(t, drop_column(1, DropBehavior::Restrict, &[]))).unwrap();
        let names: Vec<&str> = entry.constraints.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["t_check", "t_c_key"]);
        assert!(matches!(
            &entry.constraints[0].kind,
            crate::ConstraintKind::Check { columns, .. } if columns[..] == [0, 1]
        ));
        let keys: Vec<usize> = entry.indexes.iter().map(|i| i.keys[0].column).collect();
        assert_eq!((keys, &entry.indexes[1].include[..]), (vec![1, 1], &[0][..]));
        assert!(entry.options.columns.keys().eq(&[1]));
        // An index goes if it includes the column.
        let (_, entry) = (catalog.alter_table(t, drop_column(0, DropBehavior::Restrict, &[]))).unwrap();
        assert_eq!(entry.indexes.len(), 1);
    }

    #[test]
    fn a_number_is_never_given_again() {
        let (catalog, t) = catalog();
        let add = |name: &str| AlterAction::AddColumn {
            column: ColumnDef::new(name, LogicalType::Text),
        };
        let (catalog, _) = catalog.alter_table(t, add("d")).unwrap();
        let (catalog, _) = (catalog.alter_table(t, drop_column(3, DropBehavior::Restrict, &[]))).unwrap();
        let (catalog, entry) = catalog.alter_table(t, add("d")).unwrap();
        let numbers: Vec<u32> = entry.schema.numbers().map(|n| n.0).collect();
        assert_eq!((numbers, entry.last_column), (vec![1, 2, 3, 5], ColumnNumber(5)));
        let twice = catalog.alter_table(t, add("a")).unwrap_err();
        assert_eq!(twice.state(), SqlState::DUPLICATE_COLUMN);
        let (mut catalog, id) = (catalog, t);
        for _ in 0..3 {
            let drop = drop_column(0, DropBehavior::Restrict, &[]);
            catalog = catalog.alter_table(id, drop).unwrap().0;
        }
        let last = catalog.alter_table(id, drop_column(0, DropBehavior::Cascade, &[]));
        assert_eq!(last.unwrap_err().state(), SqlState::FEATURE_NOT_SUPPORTED);
    }

    #[test]
    fn views_that_read_a_column_keep_it_or_go_with_it() {
        let (catalog, t) = catalog();
        let (catalog, v) = with_view(&catalog, "v", "t");
        let (catalog, _) = with_view(&catalog, "w", "v");
        let (catalog, _) = with_view(&catalog, "apart", "t");
        let refused = catalog.alter_table(t, drop_column(1, DropBehavior::Restrict, &[v]));
        let refused = refused.unwrap_err();
        assert_eq!(refused.state(), SqlState::DEPENDENT_OBJECTS);
        assert_eq!(
            refused.message(),
            "cannot drop column b of table t because other objects depend on it"
        );
        assert_eq!(
            refused.detail(),
            Some("view v depends on column b of table t\nview w depends on view v")
        );
        let (next, _) = (catalog.alter_table(t, drop_column(1, DropBehavior::Cascade, &[v]))).unwrap();
        let left: Vec<&str> = next.relations().map(Relation::name).collect();
        assert_eq!(left, ["apart", "t"]);
        let views: Vec<_> = next.views().flat_map(|v| &v.reads[0].columns).collect();
        assert_eq!(views, ["a", "c"]);
    }
}
