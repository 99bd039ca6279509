//! The texts of what operators, sources and breakers are made of.

use crate::display_expression::{Names, write_constant, write_list};
use crate::lookup::Lookup;
use crate::scan_restriction::ScanRestrictionKind;
use crate::{
    AggregateCall, Change, ColumnId, Columns, Expr, FirstMatches, JoinKind, LockWait, LockedTable,
    PlanConflict, RowCount, RowLocks, ScanDisjunction, ScanRestriction, SortKey, WriteKind,
};
use frazil_types::LogicalType;
use std::fmt::Write;

/// What a write does, in lower case.
pub(crate) fn write_text(change: &Change, names: &Names) -> String {
    let name = &change.name;
    let mut text = match &change.kind {
        WriteKind::Insert { columns, conflict } => {
            let columns = names.list(columns.iter().copied());
            format!("insert {name} ({columns}){}", conflict_text(conflict))
        }
        WriteKind::Update { row_id, set } => {
            format!(
                "update {name} by {} set ({})",
                names.name(*row_id),
                set_text(set, names)
            )
        }
        WriteKind::Delete { row_id } => format!("delete {name} by {}", names.name(*row_id)),
        WriteKind::Lock(locks) => lock_text(locks, names),
    };
    text.push_str(&checks_text(&change.checks, names));
    if !change.returning.is_empty() {
        let _ = write!(
            text,
            " returning ({})",
            names.list(change.returning.iter().copied())
        );
    }
    text
}

/// The rows that are locked.
fn lock_text(locks: &RowLocks, names: &Names) -> String {
    let wait = |wait| match wait {
        LockWait::Block => "",
        LockWait::Skip => " skip locked",
        LockWait::Fail => " nowait",
    };
    let table = |t: &LockedTable| {
        let strength = t.strength.to_string().to_lowercase();
        format!(
            "{} by {} {strength}{}",
            t.name,
            names.name(t.row_id),
            wait(t.wait)
        )
    };
    let mut text = format!(
        "lock {}",
        locks.tables.iter().map(table).collect::<Vec<_>>().join(", ")
    );
    if let Some(bounds) = locks.bounds {
        for (word, id) in [("limit", bounds.limit), ("offset", bounds.offset)] {
            if let Some(id) = id {
                let _ = write!(text, " {word} {}", names.name(id));
            }
        }
    }
    text
}

/// Columns with their positions among those that are given.
pub(crate) fn given(columns: &[(ColumnId, usize)], names: &Names) -> String {
    let columns = (columns.iter()).map(|(id, position)| format!("{} = {position}", names.name(*id)));
    format!("({})", columns.collect::<Vec<_>>().join(", "))
}

/// Positions of columns in the table, and their new values.
fn set_text(set: &[(usize, ColumnId)], names: &Names) -> String {
    let set = set
        .iter()
        .map(|(position, id)| format!("{position} = {}", names.name(*id)));
    set.collect::<Vec<_>>().join(", ")
}

fn checks_text(checks: &[(String, ColumnId)], names: &Names) -> String {
    let check = |(name, id): &(String, ColumnId)| format!(" check {name} {}", names.name(*id));
    checks.iter().map(check).collect()
}

fn conflict_text(conflict: &PlanConflict) -> String {
    match conflict {
        PlanConflict::Fail => String::new(),
        PlanConflict::Skip { .. } => " on conflict do nothing".into(),
        PlanConflict::Update(update) => {
            let set: Vec<String> = update.set.iter().map(usize::to_string).collect();
            let condition = if update.has_condition { " where" } else { "" };
            let checks: String = (update.checks.iter())
                .map(|name| format!(" check {name}"))
                .collect();
            format!(" on conflict update set ({}){condition}{checks}", set.join(", "))
        }
    }
}

/// The columns of a union, and of each of its inputs, which stand in the order of the union's columns.
pub(crate) fn union(inputs: &[&[ColumnId]], columns: &[ColumnId], names: &Names) -> String {
    let from: Vec<String> = inputs
        .iter()
        .map(|c| format!("({})", names.list(c.iter().copied())))
        .collect();
    format!("({}) of {}", names.list(columns.iter().copied()), from.join(", "))
}

/// Pairs of a column that is made and the column of a shared subplan that it repeats.
pub(crate) fn stored_columns(columns: &[(ColumnId, ColumnId)], names: &Names) -> String {
    let pairs: Vec<String> = columns
        .iter()
        .map(|(made, stored)| format!("{} := {}", names.name(*made), names.name(*stored)))
        .collect();
    pairs.join(", ")
}

pub(crate) fn scan(
    name: &str,
    columns: &[(ColumnId, usize)],
    row_id: Option<ColumnId>,
    names: &Names,
) -> String {
    let columns = names.list(columns.iter().map(|c| c.0).chain(row_id));
    format!("{name} ({columns})")
}

/// The places at which a scan looks for rows, from `, at ` on.
pub(crate) fn scan_places(places: &[ScanRestriction], names: &Names, types: &Columns) -> String {
    let text = |r: &ScanRestriction| restriction(r, names, types[r.column].ty);
    match places {
        [] => String::new(),
        _ => format!(
            ", at {}",
            places.iter().map(text).collect::<Vec<_>>().join(" and ")
        ),
    }
}

/// What is pushed into a scan, from " where " on.
pub(crate) fn scan_predicates(
    restrictions: &[ScanRestriction],
    disjunctions: &[ScanDisjunction],
    names: &Names,
    types: &Columns,
) -> String {
    let text = |r: &ScanRestriction| restriction(r, names, types[r.column].ty);
    let all = |list: &[ScanRestriction]| list.iter().map(text).collect::<Vec<_>>().join(" and ");
    let any = |d: &ScanDisjunction| {
        let alternatives: Vec<String> = d.alternatives.iter().map(|a| all(a)).collect();
        format!("({})", alternatives.join(" or "))
    };
    let predicates: Vec<String> = (restrictions.iter().map(text))
        .chain(disjunctions.iter().map(any))
        .collect();
    match &predicates[..] {
        [] => String::new(),
        some => format!(" where {}", some.join(" and ")),
    }
}

/// The text of a restriction on a column of type `ty`.
fn restriction(r: &ScanRestriction, names: &Names, ty: LogicalType) -> String {
    let column = names.name(r.column);
    match &r.kind {
        ScanRestrictionKind::Compare(op, e) => format!("{column} {} {}", op.symbol(), names.expr(e)),
        ScanRestrictionKind::Between(low, high) => {
            format!("{column} between {} and {}", names.expr(low), names.expr(high))
        }
        ScanRestrictionKind::In(list) => {
            let mut out = format!("{column} in ");
            let _ = write_list(&mut out, list, ty);
            out
        }
        ScanRestrictionKind::IsNull => format!("{column} is null"),
        ScanRestrictionKind::IsNotNull => format!("{column} is not null"),
        ScanRestrictionKind::Prefix(prefix) => {
            let mut out = format!("{column} begins with ");
            let text = frazil_types::Value::Text(prefix.clone());
            let _ = write_constant(&mut out, &text, LogicalType::of_value(&text));
            out
        }
        ScanRestrictionKind::Like { pattern, negated } => {
            let mut out = format!("{column} {}like ", if *negated { "not " } else { "" });
            let text = frazil_types::Value::Text(pattern.clone());
            let _ = write_constant(&mut out, &text, LogicalType::of_value(&text));
            out
        }
    }
}

pub(crate) fn values(columns: &[ColumnId], rows: &[Vec<Expr>], names: &Names) -> String {
    const SHOWN: usize = 4;
    let shown: Vec<String> = rows
        .iter()
        .take(SHOWN)
        .map(|r| format!("({})", names.exprs(r)))
        .collect();
    let columns = names.list(columns.iter().copied());
    match rows.len() {
        0 => format!("({columns}): no rows"),
        n if n > SHOWN => format!("({columns}): {}, … {n} rows in all", shown.join(", ")),
        _ => format!("({columns}): {}", shown.join(", ")),
    }
}

pub(crate) fn assignments(expressions: &[(ColumnId, Expr)], names: &Names) -> String {
    let list: Vec<String> = expressions
        .iter()
        .map(|(id, e)| format!("{} := {}", names.name(*id), names.expr(e)))
        .collect();
    list.join(", ")
}

pub(crate) fn kind_name(kind: JoinKind, names: &Names) -> String {
    match kind {
        JoinKind::Inner => "inner".into(),
        JoinKind::ProbeOuter => "probe outer".into(),
        JoinKind::BuildOuter => "build outer".into(),
        JoinKind::FullOuter => "full outer".into(),
        JoinKind::ProbeSemi => "probe semi".into(),
        JoinKind::ProbeAnti => "probe anti".into(),
        JoinKind::BuildSemi => "build semi".into(),
        JoinKind::BuildAnti => "build anti".into(),
        JoinKind::ProbeMark(mark) => format!("probe mark {}", names.name(mark)),
    }
}

pub(crate) fn match_text(
    keys: &[String],
    residual: &Option<Expr>,
    null_aware: bool,
    names: &Names,
) -> String {
    let mut out = String::new();
    if !keys.is_empty() {
        let _ = write!(out, " on {}", keys.join(" and "));
    }
    if let Some(e) = residual {
        let _ = write!(out, " if {}", names.expr(e));
    }
    if null_aware {
        out.push_str(", null aware");
    }
    out
}

pub(crate) fn aggregation(
    groups: &[(ColumnId, Expr)],
    aggregates: &[(ColumnId, AggregateCall)],
    names: &Names,
) -> String {
    let mut out = String::new();
    if !groups.is_empty() {
        let _ = write!(out, " by {}", assignments(groups, names));
    }
    for (i, (id, call)) in aggregates.iter().enumerate() {
        let before = if i > 0 {
            ", "
        } else if groups.is_empty() {
            " "
        } else {
            ": "
        };
        let _ = write!(out, "{before}{} := {}", names.name(*id), call_text(call, names));
    }
    out
}

fn call_text(call: &AggregateCall, names: &Names) -> String {
    let name = call.function.name();
    let arguments: Vec<String> = (call.argument.iter().chain(&call.second))
        .map(|e| names.expr(e).to_string())
        .collect();
    let argument = match arguments.is_empty() {
        true => "*".to_string(),
        false => arguments.join(", "),
    };
    let distinct = if call.distinct { "distinct " } else { "" };
    let keys: Vec<String> = (call.order.iter())
        .map(|key| {
            let direction = direction(key.descending, key.nulls_first);
            format!("{}{direction}", names.expr(&key.e))
        })
        .collect();
    let order = match keys.is_empty() {
        true => String::new(),
        false => format!(" order by {}", keys.join(", ")),
    };
    let filter = call
        .filter
        .as_ref()
        .map_or(String::new(), |e| format!(" filter (where {})", names.expr(e)));
    format!("{name}({distinct}{argument}{order}){filter}")
}

pub(crate) fn sort_keys(keys: &[SortKey], names: &Names) -> String {
    let list: Vec<String> = keys
        .iter()
        .map(|k| {
            let direction = direction(k.descending, k.nulls_first);
            format!("{}{direction}", names.name(k.column))
        })
        .collect();
    list.join(", ")
}

/// How a key orders rows, behind the key.
fn direction(descending: bool, nulls_first: bool) -> &'static str {
    // PostgreSQL's default: NULLs are larger than all else.
    match (descending, nulls_first) {
        (false, false) => "",
        (false, true) => " nulls first",
        (true, false) => " desc nulls last",
        (true, true) => " desc",
    }
}

/// " by " and the keys, if there are any.
pub(crate) fn by_keys(keys: &[SortKey], names: &Names) -> String {
    match keys {
        [] => String::new(),
        keys => format!(" by {}", sort_keys(keys, names)),
    }
}

pub(crate) fn limits(limit: &Option<RowCount>, offset: &RowCount, names: &Names) -> String {
    let count = |rows: &RowCount| match rows {
        RowCount::Constant(n) => n.to_string(),
        RowCount::Value(e) => names.expr(e).to_string(),
        RowCount::Column(id) => names.name(*id).to_string(),
    };
    let mut out = (limit.as_ref()).map_or(String::new(), |n| format!(", limit {}", count(n)));
    if !offset.is_zero() {
        let _ = write!(out, ", offset {}", count(offset));
    }
    out
}

/// The matches of a probe row that a join gives.
pub(crate) fn first_text(first: &FirstMatches, names: &Names) -> String {
    let descending = if first.descending { " desc" } else { "" };
    let then = match &first.then[..] {
        [] => String::new(),
        keys => format!(", {}", sort_keys(keys, names)),
    };
    let offset = RowCount::Constant(first.offset);
    let limits = limits(&first.limit.map(RowCount::Constant), &offset, names);
    format!("{descending}{then}{limits}")
}

/// "by index", its name and the key.
pub(crate) fn by_index(lookup: &Lookup, names: &Names) -> String {
    let part =
        |(column, value): &(ColumnId, Expr)| format!("{} = {}", names.name(*column), names.expr(value));
    let key: Vec<String> = lookup.key.iter().map(part).collect();
    format!("by index {} where {}", lookup.index_name, key.join(" and "))
}
