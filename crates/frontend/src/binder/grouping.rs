//! GROUP BY, aggregates and HAVING: what groups by what, and which columns are left above the groups.

use super::grouping_sets::{self, Item, MOST_IN_CUBE, Word};
use super::list_limits;
use super::order_by::is_position;
use super::scope::{GroupingCall, Reference};
use super::select_list::Target;
use super::whole_row::WholeRow;
use super::{Binder, error, fold};
use crate::parse::{DISTINCT_SETS, EMPTY_SET};
use frazil_functions::Operand;
use frazil_plan::operators::{Aggregate, GroupingSets, Map, grouping_value};
use frazil_plan::same::same;
use frazil_plan::{AggregateCall, ColumnId, Expr, ExprKind, Operator, OwnMut, nullability, subquery};
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
    ) -> Result<Option<Groups<'a>>> {
        let list = match group_by {
            GroupByExpr::All(modifiers) | GroupByExpr::Expressions(_, modifiers) if !modifiers.is_empty() => {
                return Err(self.syntax_error("grouping", Span::NONE));
            }
            GroupByExpr::All(_) => return self.group_by_all(targets).map(Some),
            GroupByExpr::Expressions(list, _) if list.is_empty() => return Ok(None),
            GroupByExpr::Expressions(list, _) => &list[..],
        };
        let (list, each_once) = match list {
            [SqlExpr::Identifier(first), rest @ ..] if first.value == DISTINCT_SETS => (rest, true),
            list => (list, false),
        };
        let mut groups = Groups::default();
        list_limits::targets(list.len(), self.last_span(list))?;
        let mut items = Vec::with_capacity(list.len());
        for e in list {
            items.push(self.group_item(e, targets, &mut groups)?);
        }
        list_limits::targets(groups.expressions.len(), self.last_span(list))?;
        if !items.iter().all(Item::is_plain) {
            let list = grouping_sets::combined(items)?;
            groups.sets = Some(Sets { list, each_once });
        }
        Ok(Some(groups))
    }

    /// The direct arguments of aggregates of the query being bound. 0A000 for those that read groups, if these are NULL
    /// in the rows of some sets.
    pub(super) fn direct_arguments(&mut self, groups: Option<&Groups>) -> Result<Vec<Expr>> {
        let direct = std::mem::take(&mut self.level().aggregates.grouped);
        let is_own = |id: &ColumnId| self.owner(*id) == self.depth();
        let reads_own = |e: &&Expr| e.columns_read().iter().any(is_own);
        let has_sets = groups.is_some_and(|groups| groups.sets.is_some());
        match direct.iter().find(|e| has_sets && reads_own(e)) {
            None => Ok(direct),
            Some(e) => {
                let what = "a direct argument that is not constant, beside grouping sets,";
                Err(Error::unsupported(what).at_span(e.span))
            }
        }
    }

    /// GROUP BY ALL: by every item of the select list without an aggregate.
    fn group_by_all(&mut self, targets: &mut [Target]) -> Result<Groups<'a>> {
        let mut groups = Groups::default();
        for (at, target) in targets.iter().enumerate() {
            match &target.value {
                Operand::Typed(e)
                    if self.first_aggregate(&target.references).is_none()
                        && self.first_window(&target.references).is_none() =>
                {
                    groups.push(e.clone(), &self.references[target.references.clone()], Some(at));
                }
                _ => {}
            }
        }
        Ok(groups)
    }

    /// An item of the list of GROUP BY, its expressions added to the groups.
    fn group_item(
        &mut self,
        e: &'a SqlExpr,
        targets: &mut [Target],
        groups: &mut Groups<'a>,
    ) -> Result<Item> {
        let call = match e {
            SqlExpr::Identifier(name) if name.value == EMPTY_SET => return Ok(Item::Set(Vec::new())),
            SqlExpr::Function(call) => grouping_sets::written(call).map(|sets| (sets, &call.name)),
            _ => None,
        };
        let Some(((word, written), name)) = call else {
            return self.element(e, targets, groups).map(Item::Set);
        };
        let span = self.name_span(name);
        if written.is_empty() {
            return Err(self.syntax_error(")", span));
        }
        if let Word::Sets = word {
            let items = written.into_iter().map(|e| self.group_item(e, targets, groups));
            return items.collect::<Result<_>>().map(Item::Sets);
        }
        let elements = written.into_iter().map(|e| self.element(e, targets, groups));
        let elements: Vec<Vec<usize>> = elements.collect::<Result<_>>()?;
        match word {
            Word::Cube if elements.len() > MOST_IN_CUBE => {
                let message = format!("CUBE is limited to {MOST_IN_CUBE} elements");
                Err(error(SqlState::TOO_MANY_COLUMNS, message, span))
            }
            Word::Cube => Ok(Item::Cube(elements)),
            Word::Rollup | Word::Sets => Ok(Item::Rollup(elements)),
        }
    }

    /// Expressions that are in a set together or not at all: one, or several in parentheses.
    fn element(
        &mut self,
        e: &'a SqlExpr,
        targets: &mut [Target],
        groups: &mut Groups<'a>,
    ) -> Result<Vec<usize>> {
        match e {
            SqlExpr::Nested(inner) => self.element(inner, targets, groups),
            SqlExpr::Tuple(parts) => {
                let mut all = Vec::with_capacity(parts.len());
                for part in parts {
                    all.extend(self.element(part, targets, groups)?);
                }
                Ok(all)
            }
            e => match self.whole_row(e)? {
                Some(row) => self.group_of_row(row, groups),
                None => Ok(vec![self.group(e, targets, groups)?]),
            },
        }
    }

    /// Adds the columns of a whole row to the groups, and the fact that there is a row; their numbers there.
    fn group_of_row(&mut self, row: WholeRow, groups: &mut Groups<'a>) -> Result<Vec<usize>> {
        let (first, span) = (self.references.len(), row.span());
        let record = self.record_of(row);
        let mut all = record.values;
        if let Some(mark) = record.mark {
            let is_missing = self.typing.is_null(mark.into(), span)?;
            all.push(self.typing.settle(is_missing)?);
        }
        let references = &self.references[first..];
        Ok(all
            .into_iter()
            .map(|e| groups.push(e, references, None))
            .collect())
    }

    /// Adds an expression, a position or a name of GROUP BY to the groups; its number there.
    fn group(&mut self, e: &'a SqlExpr, targets: &mut [Target], groups: &mut Groups<'a>) -> Result<usize> {
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
        match target {
            Some(at) => self.group_of_item(at, targets, groups),
            None => self.group_written(e, targets, groups),
        }
    }

    /// Adds an item of the select list to the groups; its number there. 42803, 42P20.
    fn group_of_item(&mut self, at: usize, targets: &mut [Target], groups: &mut Groups) -> Result<usize> {
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
        Ok(groups.push(value, &self.references[references], Some(at)))
    }

    /// Adds an expression to the groups; its number there.
    fn group_written(
        &mut self,
        e: &'a SqlExpr,
        targets: &[Target],
        groups: &mut Groups<'a>,
    ) -> Result<usize> {
        let first = self.references.len();
        let bound = self.expression(e)?;
        let bound = self.typing.settle(bound)?;
        let item = item_of(&bound, e, targets);
        if !subquery::has_subquery(&bound) {
            return Ok(groups.push(bound, &self.references[first..], item));
        }
        // Two subqueries are the same if they are written alike.
        if let Some((_, at)) = groups.written.iter().find(|(known, _)| *known == e) {
            return Ok(*at);
        }
        let (bound, references) = match item.map(|at| &targets[at]) {
            Some(Target {
                value: Operand::Typed(same),
                references,
                ..
            }) => (same.clone(), references.clone()),
            _ => (bound, first..self.references.len()),
        };
        let at = groups.push(bound, &self.references[references], item);
        groups.written.push((e, at));
        Ok(at)
    }

    /// The first of some references that is to an aggregate of the query being bound, or to a `grouping(…)`.
    fn first_aggregate(&mut self, references: &Range<usize>) -> Option<ColumnId> {
        let named: Vec<ColumnId> = self.references[references.clone()].iter().map(|r| r.id).collect();
        let level = self.level();
        let mut groupings = level.groupings.iter().map(|g| g.id);
        let grouping = groupings.find(|id| named.contains(id));
        level.aggregates.first_of(&named).or(grouping)
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
pub(super) struct Groups<'a> {
    expressions: Vec<Expr>,
    /// The item of the select list that each expression is, if it is one.
    items: Vec<Option<usize>>,
    /// Those that hold subqueries, as they are written: each binding of a subquery has columns of its own.
    written: Vec<(&'a SqlExpr, usize)>,
    /// The sets of them that it groups by; `None`: one, of all.
    sets: Option<Sets>,
    /// Columns that were named in an expression whose value is known without them.
    unread: BTreeSet<ColumnId>,
}

/// Sets of expressions, by their numbers.
struct Sets {
    list: Vec<Vec<usize>>,
    /// Whether equal sets are one.
    each_once: bool,
}

impl Groups<'_> {
    /// The columns that are read in what is grouped by.
    pub fn columns_read(&self) -> impl Iterator<Item = ColumnId> {
        self.expressions.iter().flat_map(Expr::columns_read)
    }

    /// Adds an expression, which may be an item of the select list; its number. What is the same item, or is in no item
    /// and was added before, is one group.
    fn push(&mut self, e: Expr, references: &[Reference], item: Option<usize>) -> usize {
        let is_known = |at: &usize| match item {
            Some(_) => self.items[*at] == item,
            None => self.items[*at].is_none() && !is_constant(&e) && same(&self.expressions[*at], &e),
        };
        if let Some(known) = (0..self.items.len()).find(is_known) {
            return known;
        }
        let read: BTreeSet<ColumnId> = e.columns_read().into_iter().collect();
        let named = references.iter().map(|r| r.id);
        self.unread.extend(named.filter(|id| !read.contains(id)));
        self.expressions.push(e);
        self.items.push(item);
        self.expressions.len() - 1
    }
}

/// The item of the select list that an expression of GROUP BY is. A constant, or what holds a subquery, is the item
/// that is written alike.
fn item_of(bound: &Expr, written: &SqlExpr, targets: &[Target]) -> Option<usize> {
    let is_item = |t: &Target| match &t.value {
        _ if is_constant(bound) || subquery::has_subquery(bound) => {
            t.written.map(without_parentheses) == Some(without_parentheses(written))
        }
        Operand::Typed(value) => same(value, bound),
        Operand::Unknown(_) => false,
    };
    targets.iter().position(is_item)
}

fn is_constant(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Constant(_))
}

/// An expression without the parentheses around it.
fn without_parentheses(mut e: &SqlExpr) -> &SqlExpr {
    while let SqlExpr::Nested(inner) = e {
        e = inner;
    }
    e
}

/// The groups of a query, and what stands for them above.
pub(super) struct Grouping {
    groups: Vec<(ColumnId, Expr)>,
    columns: HashMap<ColumnId, ColumnId>,
    /// The sets of groups, each ascending; `None`: one, of all.
    sets: Option<Vec<Vec<usize>>>,
    /// Number of groups that GROUP BY lists. Those behind them depend on these.
    listed: usize,
    /// With sets: items of the select list that are groups, with the group's column.
    items: Vec<(usize, ColumnId)>,
    /// As in [`Groups`].
    unread: BTreeSet<ColumnId>,
}

impl Grouping {
    /// Groups: each once without sets, else each expression by itself, because a set may have one of two that are
    /// equal.
    pub fn new(binder: &mut Binder, list: Groups) -> Grouping {
        let mut grouping = Grouping {
            groups: Vec::new(),
            columns: HashMap::new(),
            sets: None,
            listed: 0,
            items: Vec::new(),
            unread: list.unread,
        };
        // For each expression the group that it is.
        let mut places = Vec::with_capacity(list.expressions.len());
        for (e, item) in list.expressions.into_iter().zip(list.items) {
            if list.sets.is_none()
                && let Some(at) = grouping.place_of(&e)
            {
                places.push(at);
                continue;
            }
            places.push(grouping.groups.len());
            let label = e.label(&binder.columns, "group");
            let made = binder.columns.add(label, e.ty, e.nullable);
            binder.own(made);
            binder.keep_descent(made, &e);
            if let ExprKind::Column(id) = e.kind {
                grouping.columns.entry(id).or_insert(made);
            }
            let item = item.filter(|_| list.sets.is_some());
            grouping.items.extend(item.map(|item| (item, made)));
            grouping.groups.push((made, e));
        }
        if let Some(sets) = list.sets {
            grouping.set_sets(binder, sets, &places);
        }
        grouping.listed = grouping.groups.len();
        grouping
    }

    /// Adds the columns that depend on groups which are in every set, as far as something reads them.
    pub fn add_dependents(&mut self, binder: &mut Binder, read: &BTreeSet<ColumnId>) {
        let is_in_all = |at: usize| {
            self.sets
                .iter()
                .flatten()
                .all(|set| set.binary_search(&at).is_ok())
        };
        let grouped = self.groups.iter().enumerate().filter(|(at, _)| is_in_all(*at));
        let grouped: BTreeSet<ColumnId> = grouped.filter_map(|(_, (_, e))| e.as_column()).collect();
        for id in binder.level().dependents(&grouped) {
            if !read.contains(&id) || self.columns.contains_key(&id) {
                continue;
            }
            binder.note_keyed(id);
            let e = Expr::column(id, &binder.columns);
            let made = binder
                .columns
                .add(binder.columns[id].label.clone(), e.ty, e.nullable);
            binder.own(made);
            binder.keep_descent(made, &e);
            self.columns.insert(id, made);
            for set in self.sets.iter_mut().flatten() {
                set.push(self.groups.len());
            }
            self.groups.push((made, e));
        }
    }

    /// Says by which sets it groups; `places`: the group that each expression is.
    fn set_sets(&mut self, binder: &mut Binder, sets: Sets, places: &[usize]) {
        let groups = |set: Vec<usize>| {
            let mut set: Vec<usize> = set.into_iter().map(|e| places[e]).collect();
            set.sort();
            set.dedup();
            set
        };
        let mut list: Vec<Vec<usize>> = sets.list.into_iter().map(groups).collect();
        if sets.each_once {
            list.sort();
            list.dedup();
        }
        if list.len() > 1 {
            for (at, (id, _)) in self.groups.iter().enumerate() {
                let is_in = |set: &Vec<usize>| set.binary_search(&at).is_ok();
                binder.columns[*id].nullable |= !list.iter().all(is_in);
            }
            self.sets = Some(list);
        }
    }

    fn find(&self, e: &Expr) -> Option<ColumnId> {
        if let Some(id) = e.as_column() {
            return self.columns.get(&id).copied();
        }
        // Constants are groups by their place: see `put_items`.
        if is_constant(e) {
            return None;
        }
        self.place_of(e).map(|at| self.groups[at].0)
    }

    /// The place of the group that an expression is.
    fn place_of(&self, e: &Expr) -> Option<usize> {
        match &e.kind {
            ExprKind::Column(id) => {
                let made = self.columns.get(id)?;
                self.groups.iter().position(|g| g.0 == *made)
            }
            _ => self.groups.iter().position(|(_, group)| same(group, e)),
        }
    }

    /// The groups that the arguments of a `grouping(…)` are. 42803 if one is none.
    fn arguments(&self, call: &GroupingCall) -> Result<Vec<usize>> {
        let places = call.arguments.iter().map(|e| {
            self.place_of(e).filter(|at| *at < self.listed).ok_or_else(|| {
                let message =
                    "arguments to GROUPING must be grouping expressions of the associated query level";
                error(SqlState::GROUPING_ERROR, message, e.span)
            })
        });
        places.collect()
    }

    /// With sets: puts the groups' columns in the place of the items of the select list that they are.
    pub fn put_items(&self, binder: &Binder, targets: &mut [Target]) {
        for (item, id) in &self.items {
            let span = targets[*item].value.span();
            targets[*item].value = Expr::column(*id, &binder.columns).at(span).into();
        }
    }

    /// Puts the groups' columns in the place of what they stand for in the expressions in which something was named.
    /// `made` are the columns of aggregates and windows. 42803 for a column that is left, or was named where it does
    /// not count.
    pub fn replace<'e>(
        &self,
        binder: &mut Binder,
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
            if self.sets.is_some() {
                // Groups that a set lacks are NULL.
                e.walk(&mut |part| {
                    if let ExprKind::Let { column, .. } = part.kind {
                        binder.columns[column].nullable = true;
                    }
                });
                nullability::of_expression(e, &binder.columns);
            }
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
        match e.own_mut() {
            OwnMut::Reads(id) => {
                let is_own = binder.owner(*id) == binder.depth() && !made.contains(id);
                if is_own {
                    return Err(ungrouped(binder, *id, e.span, within));
                }
                return Ok(());
            }
            OwnMut::Asks(subquery) => {
                let mut inside = made.clone();
                inside.extend(subquery.columns_made());
                self.replace_below(binder, subquery.root_mut(), &inside)?;
                for child in e.children_mut() {
                    self.replace_in(binder, child, &inside, within)?;
                }
                return Ok(());
            }
            OwnMut::Makes(_) | OwnMut::Nothing => {}
        }
        for child in e.children_mut() {
            self.replace_in(binder, child, made, within)?;
        }
        Ok(())
    }

    /// [`Self::replace_in`] for the expressions of a subquery's tree, of which `made` are the columns and those around
    /// it. A subquery in them makes columns of its own.
    fn replace_below(&self, binder: &Binder, op: &mut Operator, made: &BTreeSet<ColumnId>) -> Result<()> {
        for e in op.expressions_mut() {
            self.replace_in(binder, e, made, Within::Subquery)?;
        }
        (op.inputs_mut().into_iter()).try_for_each(|input| self.replace_below(binder, input, made))
    }

    /// The groups above `op`. 42803 for a `grouping(…)` of what is no group.
    pub fn above(
        self,
        op: Operator,
        aggregates: Vec<(ColumnId, AggregateCall)>,
        calls: Vec<GroupingCall>,
    ) -> Result<Operator> {
        let grouping: Vec<(ColumnId, Vec<usize>)> = (calls.iter())
            .map(|call| Ok((call.id, self.arguments(call)?)))
            .collect::<Result<_>>()?;
        let all = Aggregate {
            input: Box::new(op),
            groups: self.groups,
            aggregates,
        };
        if let Some(sets) = self.sets {
            return Ok(Operator::GroupingSets(GroupingSets { all, sets, grouping }));
        }
        let set: Vec<usize> = (0..all.groups.len()).collect();
        let values = (grouping.into_iter()).map(|(id, groups)| (id, grouping_value(&set, &groups)));
        let expressions = values.collect();
        Ok(Map::above(Operator::Aggregate(all), expressions))
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
