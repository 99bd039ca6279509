//! FROM: tables, subqueries, common table expressions, lists of them.

use super::file_table;
use super::join::Joined;
use super::nesting::Names;
use super::rows::one_row;
use super::scope::Item;
use super::{Binder, OutputColumn, Relation, error, fold};
use crate::file_source::{FileSource, check_scheme};
use frazil_plan::operators::Map;
use frazil_plan::{Expr, JoinKind, Operator};
use frazil_types::{Error, Result, Span, SqlState};
use sqlparser::ast::{
    ObjectName, Query, TableAlias, TableFactor, TableFunctionArgs, TableSampleKind, TableWithJoins,
};

/// Relations combined so far.
pub(super) struct FromRows {
    pub op: Operator,
    pub items: Vec<Item>,
    /// Whether it may read columns of relations to its left.
    pub is_lateral: bool,
}

impl FromRows {
    /// Notes the schema of a table or view that has no alias.
    pub fn in_schema(mut self, schema: &str) -> FromRows {
        self.items = self
            .items
            .into_iter()
            .map(|item| item.in_schema(schema))
            .collect();
        self
    }
}

impl<'a> Binder<'a> {
    /// Binds a FROM list; without one there is a row without columns.
    pub(super) fn from(&mut self, from: &'a [TableWithJoins]) -> Result<FromRows> {
        let mut all: Option<FromRows> = None;
        for relation in from {
            let right = self.table_with_joins(relation)?;
            all = Some(match all {
                None => right,
                Some(left) => {
                    self.distinct_names(&left.items, &right.items, self.factor_span(&relation.relation))?;
                    self.combine(left, right, Joined::plain(JoinKind::Inner), Span::NONE)?
                }
            });
            let items = all.as_ref().map(|rows| rows.items.clone()).unwrap_or_default();
            self.level().lateral = items;
        }
        self.level().lateral.clear();
        self.check_locked_names()?;
        let all = all.unwrap_or_else(|| FromRows {
            op: one_row(),
            items: Vec::new(),
            is_lateral: false,
        });
        Ok(match self.groups {
            true => self.told_apart(all),
            false => all,
        })
    }

    pub(super) fn table_with_joins(&mut self, t: &'a TableWithJoins) -> Result<FromRows> {
        let mut rows = self.factor(&t.relation)?;
        let outside = self.level().lateral.len();
        for join in &t.joins {
            let lateral = &mut self.level().lateral;
            lateral.truncate(outside);
            lateral.extend(rows.items.iter().cloned());
            rows = self.join(rows, join)?;
        }
        self.level().lateral.truncate(outside);
        Ok(rows)
    }

    pub(super) fn factor(&mut self, factor: &'a TableFactor) -> Result<FromRows> {
        super::refuse::table_factor(factor)?;
        match factor {
            TableFactor::Table {
                name,
                alias,
                args,
                with_ordinality,
                sample,
                ..
            } => match (self.file_source(name, args.as_ref())?, args) {
                (Some(source), _) => self.file_table(&source, name, alias.as_ref()),
                (None, Some(args)) => {
                    self.function_in_from(name, &args.args, *with_ordinality, alias.as_ref())
                }
                (None, None) => self.named_table(name, sample.as_ref(), alias.as_ref()),
            },
            TableFactor::Function {
                name,
                args,
                with_ordinality,
                alias,
                ..
            } => self.function_in_from(name, args, *with_ordinality, alias.as_ref()),
            TableFactor::Derived {
                lateral,
                subquery,
                alias,
                ..
            } => self.derived(subquery, alias.as_ref(), *lateral),
            TableFactor::NestedJoin {
                table_with_joins,
                alias,
            } => {
                let rows = self.table_with_joins(table_with_joins)?;
                match alias {
                    Some(alias) => self.aliased_join(rows, alias),
                    None => Ok(rows),
                }
            }
            other => Err(Error::unsupported(format!("{other} in FROM"))),
        }
    }

    /// Where a relation stands, for messages.
    pub(super) fn factor_span(&self, factor: &TableFactor) -> Span {
        match factor {
            TableFactor::Table { name, alias, .. } | TableFactor::Function { name, alias, .. } => match alias
            {
                Some(alias) => self.name_span(name).to(self.span(&alias.name)),
                None => self.name_span(name),
            },
            TableFactor::Derived {
                alias: Some(alias), ..
            }
            | TableFactor::NestedJoin {
                alias: Some(alias), ..
            } => self.span(&alias.name),
            _ => Span::NONE,
        }
    }

    /// The files that a factor names; `None` for a table.
    fn file_source(&self, name: &ObjectName, args: Option<&TableFunctionArgs>) -> Result<Option<FileSource>> {
        file_table::source(name, args).map_err(|e| e.at_span(self.name_span(name)))
    }

    /// The rows of files. 0A000 in the query of a view, whose columns would change with the files.
    fn file_table(
        &mut self,
        source: &FileSource,
        name: &'a ObjectName,
        alias: Option<&'a TableAlias>,
    ) -> Result<FromRows> {
        let span = self.name_span(name);
        if matches!(self.names, Names::Noted(_)) {
            return Err(Error::unsupported("a file in a view")
                .at_span(span)
                .with_hint("load it: CREATE TABLE t AS SELECT * FROM 'path'"));
        }
        let mut patterns = source.patterns.iter();
        let checked = patterns.try_for_each(|path| check_scheme(path));
        checked.map_err(|e| e.at_span(span))?;
        self.check_file().map_err(|e| e.at_span(span))?;
        let table = self.catalog.file(source).map_err(|e| e.at_span(span))?;
        let names = table.schema.columns.iter().map(|c| c.name.clone()).collect();
        let relation = self.scan(table.id, &table.name, names, &table.schema);
        self.item(relation, Some(&table.name), alias, false)
    }

    fn named_table(
        &mut self,
        name: &'a ObjectName,
        sample: Option<&'a TableSampleKind>,
        alias: Option<&'a TableAlias>,
    ) -> Result<FromRows> {
        if let [part] = &name.0[..]
            && let Some(ident) = part.as_ident()
            && let Some(at) = self.find_cte(&fold(ident))
        {
            if sample.is_some() {
                return Err(super::sample::no_table(self.name_span(name)));
            }
            let alias_name = alias.map_or_else(|| fold(ident), |alias| fold(&alias.name));
            self.refuse_to_lock(&alias_name, "a WITH query")?;
            let relation = self.read_cte(at)?;
            return self.item(relation, Some(&fold(ident)), alias, false);
        }
        let table_oid = self.oid_to_show(name)?;
        let last = name.0.last().and_then(|part| part.as_ident()).map(fold);
        let locked = alias.map(|alias| fold(&alias.name)).or(last);
        let is_locked = self.is_locked(locked.as_deref());
        self.locking.from_above = is_locked;
        let read = match sample {
            Some(sample) => self.sampled(name, sample),
            None => self.read(name),
        };
        self.locking.from_above = false;
        let (mut relation, name) = match read {
            Err(e) if e.state() == SqlState::UNDEFINED_TABLE && sample.is_none() => {
                let rows = self.sequence_in_from(name, alias)?;
                return rows.ok_or(e);
            }
            read => read?,
        };
        if is_locked {
            self.note_locked(&name);
        }
        let seen = alias.map_or_else(|| name.name.clone(), |alias| fold(&alias.name));
        self.lock_relation(&mut relation.op, Some(&seen))?;
        let mut rows = self.item(relation, Some(&name.name), alias, false)?;
        if let Some(oid) = table_oid {
            self.show_system_columns(&mut rows, oid);
        }
        Ok(match alias {
            None => rows.in_schema(&name.schema),
            Some(_) => rows,
        })
    }

    fn derived(
        &mut self,
        query: &'a Query,
        alias: Option<&'a TableAlias>,
        lateral: bool,
    ) -> Result<FromRows> {
        let seen = alias.map(|alias| fold(&alias.name));
        self.locking.from_above = self.is_locked(seen.as_deref());
        let mut relation = if lateral {
            let level = self.level();
            let visible = [&level.lateral[..], &level.target[..]].concat();
            self.within(super::scope::Clause::From, visible, |b| b.query(query))?
                .0
        } else {
            self.within(super::scope::Clause::From, Vec::new(), |b| b.query(query))?
                .0
        };
        self.locking.from_above = false;
        self.lock_relation(&mut relation.op, seen.as_deref())?;
        self.item(relation, None, alias, lateral)
    }

    /// A relation with the name and column names that its alias gives.
    pub(super) fn item(
        &mut self,
        relation: Relation,
        name: Option<&str>,
        alias: Option<&TableAlias>,
        is_lateral: bool,
    ) -> Result<FromRows> {
        let Relation { mut op, mut columns } = relation;
        if let Some(alias) = alias {
            self.rename(&mut columns, alias)?;
        }
        let alias = alias.map(|a| fold(&a.name));
        let mut item = match alias.as_deref().or(name) {
            Some(name) => Item::named(name, columns),
            None => Item::unnamed(columns),
        };
        if self.counts_rows {
            let marker = self.columns.add_mark("row", false);
            self.own(marker);
            item.marker = Some(marker);
            op = Map::above(op, vec![(marker, Expr::truth(true))]);
        }
        for column in item.columns.iter() {
            self.own(column.id);
        }
        Ok(FromRows {
            op,
            items: vec![item],
            is_lateral,
        })
    }

    /// Gives columns the names of `alias (a, b, …)`. 42P10 if there are more names than columns.
    pub(super) fn rename(&mut self, columns: &mut [OutputColumn], alias: &TableAlias) -> Result<()> {
        self.not_reserved(&alias.name)?;
        if alias.columns.len() > columns.len() {
            let message = format!(
                "table \"{}\" has {} columns available but {} columns specified",
                fold(&alias.name),
                columns.len(),
                alias.columns.len()
            );
            let span = self.span(&alias.name);
            return Err(error(SqlState::INVALID_COLUMN_REFERENCE, message, span));
        }
        for (column, given) in columns.iter_mut().zip(&alias.columns) {
            if given.data_type.is_some() {
                let span = self.span(&given.name);
                let message = "a column definition list is only allowed for functions returning \"record\"";
                return Err(error(SqlState::SYNTAX_ERROR, message, span));
            }
            column.name = fold(&given.name);
            self.note_use(column.id);
        }
        Ok(())
    }

    /// `(a JOIN b …) AS j`: the relations inside are seen no longer.
    fn aliased_join(&mut self, rows: FromRows, alias: &TableAlias) -> Result<FromRows> {
        self.refuse_to_lock(&fold(&alias.name), "a join")?;
        let mut columns: Vec<OutputColumn> = super::names::unqualified(&rows.items).cloned().collect();
        self.rename(&mut columns, alias)?;
        let mut item = Item::named(&fold(&alias.name), columns);
        item.marker = rows.items.iter().find_map(|i| i.marker);
        Ok(FromRows {
            items: vec![item],
            ..rows
        })
    }
}
