//! GROUP BY, aggregates and HAVING: what groups by what, and which columns are left above the groups.

use super::order_by::{check_keys, is_position};
use super::same::same;
use super::scope::Reference;
use super::select_list::Target;
use super::{Binder, error, fold};
use frazil_functions::Operand;
use frazil_plan::operators::Aggregate;
use frazil_plan::{AggregateCall, ColumnId, Expr, ExprKind, Operator, subquery};
use frazil_types::{Error, Result, Span, SqlState};
use sqlparser::ast::{Expr as SqlExpr, GroupByExpr};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

impl<'a> Binder<'a> {
    /// What is grouped by; `None` without GROUP BY.
    pub(super) fn group_by(
        &mut self,
        group_by: &'a GroupByExpr,
        targets: &mut [Target],
    ) -> Result<Option<Groups>> {
        let list = match group_by {
            GroupByExpr::All(modifiers) | GroupByExpr::Expressions(_, modifiers) if !modifiers.is_empty() => {
                return Err(Error::unsupported("GROUPING SETS, ROLLUP, CUBE or TOTALS"));
            }
            GroupByExpr::All(_) => return self.group_by_all(targets).map(Some),
            GroupByExpr::Expressions(list, _) if list.is_empty() => return Ok(None),
            GroupByExpr::Expressions(list, _) => list,
        };
        let mut groups = Groups::default();
        check_keys(list.len(), "GROUP BY")?;
        for e in list {
            self.group(e, targets, &mut groups)?;
        }
        Ok(Some(groups))
    }

    /// GROUP BY ALL: by every item of the select list without an aggregate.
    fn group_by_all(&mut self, targets: &mut [Target]) -> Result<Groups> {
        let mut groups = Groups::default();
        for target in targets {
            match &target.value {
                Operand::Typed(e)
                    if self.first_aggregate(&target.references).is_none()
                        && self.first_window(&target.references).is_none() =>
                {
                    groups.push(e.clone(), &self.references[target.references.clone()]);
                }
                _ => {}
            }
        }
        Ok(groups)
    }

    fn group(&mut self, e: &'a SqlExpr, targets: &mut [Target], groups: &mut Groups) -> Result<()> {
        match e {
            SqlExpr::Rollup(_) => return Err(Error::unsupported("ROLLUP")),
            SqlExpr::Cube(_) => return Err(Error::unsupported("CUBE")),
            SqlExpr::GroupingSets(_) => return Err(Error::unsupported("GROUPING SETS")),
            // GROUP BY () and (a, b).
            SqlExpr::Tuple(parts) => {
                for part in parts {
                    self.group(part, targets, groups)?;
                }
                return Ok(());
            }
            _ => {}
        }
        let target = match self.position_of(e, targets.len(), "GROUP BY")? {
            Some(at) => Some(at),
            // A name is that of an input column before that of an output column.
            None => match e {
                SqlExpr::Identifier(name) if self.input_column(&fold(name)).is_none() => {
                    self.output_named(name, targets, "GROUP BY")?
                }
                _ => None,
            },
        };
        let (e, references) = match target {
            Some(at) => {
                let value = self.typing.settle(targets[at].value.clone())?;
                targets[at].value = value.clone().into();
                let references = targets[at].references.clone();
                if self.first_aggregate(&references).is_some() {
                    let message = "aggregate functions are not allowed in GROUP BY";
                    return Err(error(SqlState::GROUPING_ERROR, message, value.span));
                }
                if self.first_window(&references).is_some() {
                    let message = "window functions are not allowed in GROUP BY";
                    return Err(error(SqlState::WINDOWING_ERROR, message, value.span));
                }
                (value, references)
            }
            None => {
                let first = self.references.len();
                let bound = self.expression(e)?;
                let bound = self.typing.settle(bound)?;
                // Two subqueries are the same if they are written alike.
                let alike = match subquery::has_subquery(&bound) {
                    true => targets.iter().find(|t| t.written == Some(e)),
                    false => None,
                };
                match alike {
                    Some(Target {
                        value: Operand::Typed(same),
                        references,
                        ..
                    }) => (same.clone(), references.clone()),
                    _ => (bound, first..self.references.len()),
                }
            }
        };
        groups.push(e, &self.references[references]);
        Ok(())
    }

    /// The first of some references that is to an aggregate of the query being bound.
    fn first_aggregate(&mut self, references: &Range<usize>) -> Option<ColumnId> {
        let named: Vec<ColumnId> = self.references[references.clone()].iter().map(|r| r.id).collect();
        self.level().aggregates.first_of(&named)
    }

    /// The first of some references that is to a window function of the query being bound.
    fn first_window(&mut self, references: &Range<usize>) -> Option<ColumnId> {
        let named: Vec<ColumnId> = self.references[references.clone()].iter().map(|r| r.id).collect();
        self.level().windows.first_of(&named)
    }

    /// The item of the select list that a whole number means. 42P10, 42601.
    pub(super) fn position_of(&self, e: &SqlExpr, targets: usize, clause: &str) -> Result<Option<usize>> {
        let Some((position, span)) = is_position(self, e, clause)? else {
            return Ok(None);
        };
        if let Ok(n @ 1..) = usize::try_from(position)
            && n <= targets
        {
            return Ok(Some(n - 1));
        }
        let message = format!("{clause} position {position} is not in select list");
        Err(error(SqlState::INVALID_COLUMN_REFERENCE, message, span))
    }
}

/// What a query groups by.
#[derive(Default)]
pub(super) struct Groups {
    expressions: Vec<Expr>,
    /// Columns that were named in an expression whose value is known without them.
    unread: BTreeSet<ColumnId>,
}

impl Groups {
    /// The columns that are read in what is grouped by.
    pub fn columns_read(&self) -> impl Iterator<Item = ColumnId> {
        self.expressions.iter().flat_map(Expr::columns_read)
    }

    fn push(&mut self, e: Expr, references: &[Reference]) {
        let read: BTreeSet<ColumnId> = e.columns_read().into_iter().collect();
        let named = references.iter().map(|r| r.id);
        self.unread.extend(named.filter(|id| !read.contains(id)));
        self.expressions.push(e);
    }
}

/// The groups of a query, and what stands for them above.
pub(super) struct Grouping {
    groups: Vec<(ColumnId, Expr)>,
    columns: HashMap<ColumnId, ColumnId>,
    /// As in [`Groups`].
    unread: BTreeSet<ColumnId>,
}

impl Grouping {
    /// Groups, each once.
    pub fn new(binder: &mut Binder, list: Groups) -> Grouping {
        let mut grouping = Grouping {
            groups: Vec::new(),
            columns: HashMap::new(),
            unread: list.unread,
        };
        for e in list.expressions {
            if grouping.find(&e).is_some() {
                continue;
            }
            let label = match &e.kind {
                ExprKind::Column(id) => binder.columns[*id].label.clone(),
                _ => "group".to_string(),
            };
            let made = binder.columns.add(label, e.ty, e.nullable);
            binder.own(made);
            if let ExprKind::Column(id) = e.kind {
                grouping.columns.insert(id, made);
            }
            grouping.groups.push((made, e));
        }
        grouping
    }

    fn find(&self, e: &Expr) -> Option<ColumnId> {
        if let ExprKind::Column(id) = &e.kind {
            return self.columns.get(id).copied();
        }
        let mut groups = self.groups.iter();
        groups.find(|(_, group)| same(group, e)).map(|(id, _)| *id)
    }

    /// Puts the groups' columns in the place of what they stand for in the expressions in which something was named. `made`
    /// are the columns of aggregates and windows. 42803 for a column that is left, or was named where it does not count.
    pub fn replace<'e>(
        &self,
        binder: &Binder,
        list: impl Iterator<Item = &'e mut Expr>,
        mut named: impl Iterator<Item = Reference>,
        made: &[ColumnId],
    ) -> Result<()> {
        let groups = self.groups.iter().map(|g| g.0);
        let made: BTreeSet<ColumnId> = made.iter().copied().chain(groups).collect();
        let mut read = BTreeSet::new();
        for e in list {
            read.extend(e.columns_read());
            self.replace_in(binder, e, &made, Within::Query)?;
        }
        let is_known =
            |id: &ColumnId| made.contains(id) || self.columns.contains_key(id) || self.unread.contains(id);
        let of_query = |r: &Reference| binder.owner(r.id) == binder.depth();
        match named.find(|r| of_query(r) && !read.contains(&r.id) && !is_known(&r.id)) {
            None => Ok(()),
            Some(r) if r.depth == binder.depth() => Err(ungrouped(binder, r.id, r.span, Within::Query)),
            Some(r) => Err(ungrouped(binder, r.id, r.span, Within::Subquery)),
        }
    }

    fn replace_in(
        &self,
        binder: &Binder,
        e: &mut Expr,
        made: &BTreeSet<ColumnId>,
        within: Within,
    ) -> Result<()> {
        if let Some(id) = self.find(e) {
            let span = e.span;
            *e = Expr::column(id, &binder.columns).at(span);
            return Ok(());
        }
        match &mut e.kind {
            ExprKind::Column(id) => {
                let is_own = binder.owner(*id) == binder.depth() && !made.contains(id);
                if is_own {
                    return Err(ungrouped(binder, *id, e.span, within));
                }
                return Ok(());
            }
            ExprKind::Subquery(subquery) => {
                let mut inside = made.clone();
                inside.extend(subquery.columns_made());
                self.replace_below(binder, &mut subquery.root, &inside)?;
                for child in e.children_mut() {
                    self.replace_in(binder, child, &inside, within)?;
                }
                return Ok(());
            }
            _ => {}
        }
        for child in e.children_mut() {
            self.replace_in(binder, child, made, within)?;
        }
        Ok(())
    }

    /// [`Self::replace_in`] for the expressions of a subquery's tree, of which `made` are the columns and those around it. A
    /// subquery in them makes columns of its own.
    fn replace_below(&self, binder: &Binder, op: &mut Operator, made: &BTreeSet<ColumnId>) -> Result<()> {
        for e in op.expressions_mut() {
            self.replace_in(binder, e, made, Within::Subquery)?;
        }
        (op.inputs_mut().into_iter()).try_for_each(|input| self.replace_below(binder, input, made))
    }

    /// The groups above `op`.
    pub fn above(self, op: Operator, aggregates: Vec<(ColumnId, AggregateCall)>) -> Operator {
        Operator::Aggregate(Aggregate {
            input: Box::new(op),
            groups: self.groups,
            aggregates,
        })
    }
}

/// Where a column is read.
#[derive(Clone, Copy)]
enum Within {
    Query,
    Subquery,
}

fn ungrouped(binder: &Binder, id: ColumnId, span: Span, within: Within) -> Error {
    let name = binder.full_name(id);
    let message = match within {
        Within::Query => {
            format!(
                "column \"{name}\" must appear in the GROUP BY clause or be used in an aggregate function"
            )
        }
        Within::Subquery => format!("subquery uses ungrouped column \"{name}\" from outer query"),
    };
    error(SqlState::GROUPING_ERROR, message, span)
}
