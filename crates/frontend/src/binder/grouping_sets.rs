//! GROUPING SETS, ROLLUP and CUBE: how they are written, and the sets that the list of GROUP BY stands for.

use crate::parse::GROUPING_SETS;
use frazil_types::{Error, Result, SqlState};
use sqlparser::ast::{Expr as SqlExpr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident};

/// Sets that a GROUP BY stands for, at most: as many as PostgreSQL's.
const MOST_SETS: usize = 4096;
/// Elements of a CUBE, at most.
pub(super) const MOST_IN_CUBE: usize = 12;

/// An item of the list of GROUP BY. Expressions are numbers: their places among all of the list.
pub(super) enum Item {
    /// One set.
    Set(Vec<usize>),
    /// The elements together, then without the last one, and so on.
    Rollup(Vec<Vec<usize>>),
    /// Every choice of elements.
    Cube(Vec<Vec<usize>>),
    /// The sets of all items.
    Sets(Vec<Item>),
}

impl Item {
    /// Whether it is an expression, or several without a word before them.
    pub fn is_plain(&self) -> bool {
        matches!(self, Item::Set(_))
    }

    /// How many sets it stands for.
    fn count(&self) -> usize {
        match self {
            Item::Set(_) => 1,
            Item::Rollup(elements) => elements.len() + 1,
            Item::Cube(elements) => 1 << elements.len(),
            Item::Sets(items) => items.iter().map(Item::count).fold(0, usize::saturating_add),
        }
    }

    /// The sets, of which there are few.
    fn sets(self) -> Vec<Vec<usize>> {
        match self {
            Item::Set(set) => vec![set],
            Item::Rollup(elements) => (0..=elements.len())
                .rev()
                .map(|n| elements[..n].concat())
                .collect(),
            Item::Cube(elements) => (0..1usize << elements.len())
                .map(|absent| {
                    let chosen = elements.iter().enumerate();
                    let chosen = chosen.filter(|(i, _)| absent & (1 << i) == 0);
                    chosen.flat_map(|(_, e)| e.iter().copied()).collect()
                })
                .collect(),
            Item::Sets(items) => items.into_iter().flat_map(Item::sets).collect(),
        }
    }
}

/// The sets of a whole list: of each item one, in every combination. 54001.
pub(super) fn combined(items: Vec<Item>) -> Result<Vec<Vec<usize>>> {
    let count = items.iter().map(Item::count).fold(1, usize::saturating_mul);
    if count > MOST_SETS {
        let message = format!("too many grouping sets present (maximum {MOST_SETS})");
        return Err(Error::new(SqlState::STATEMENT_TOO_COMPLEX, message));
    }
    let mut all: Vec<Vec<usize>> = vec![vec![]];
    for item in items {
        let sets = item.sets();
        let with = |before: &Vec<usize>| {
            let both = |set: &Vec<usize>| before.iter().chain(set).copied().collect();
            sets.iter().map(both).collect::<Vec<Vec<usize>>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    Ok(all)
}

/// A word before sets.
pub(super) enum Word {
    Rollup,
    Cube,
    Sets,
}

/// The sets that are written as a call of a word: none where something else is written. `None` for any other call.
pub(super) fn written(call: &Function) -> Option<(Word, Vec<&SqlExpr>)> {
    let name: Option<&Ident> = match &call.name.0[..] {
        [name] => name.as_ident(),
        _ => None,
    };
    let name = name?;
    let is = |word| name.quote_style.is_none() && name.value.eq_ignore_ascii_case(word);
    let word = match () {
        _ if name.value == GROUPING_SETS => Word::Sets,
        _ if is("rollup") => Word::Rollup,
        _ if is("cube") => Word::Cube,
        _ => return None,
    };
    match (arguments(call), word) {
        (Some(arguments), word) => Some((word, arguments)),
        (None, Word::Sets) => Some((Word::Sets, Vec::new())),
        (None, Word::Rollup | Word::Cube) => None,
    }
}

/// The arguments of a call that has nothing else.
fn arguments(call: &Function) -> Option<Vec<&SqlExpr>> {
    let FunctionArguments::List(list) = &call.args else {
        return None;
    };
    let is_more = call.over.is_some()
        || call.filter.is_some()
        || call.null_treatment.is_some()
        || !call.within_group.is_empty()
        || !matches!(call.parameters, FunctionArguments::None)
        || list.duplicate_treatment.is_some()
        || !list.clauses.is_empty();
    if is_more {
        return None;
    }
    let expression = |argument| match argument {
        &FunctionArg::Unnamed(FunctionArgExpr::Expr(ref e)) => Some(e),
        _ => None,
    };
    list.args.iter().map(expression).collect()
}
