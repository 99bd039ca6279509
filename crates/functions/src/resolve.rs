//! Which of several operators or functions of one name is meant: PostgreSQL's manual, 10.2 and 10.3.

use crate::Operand;
use crate::type_rules::{Category, Kind, is_implicit, name_of};
use frazil_types::{Error, LogicalType, SqlState};

/// What the search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// The candidate at this position.
    Found(usize),
    /// No candidate takes such arguments: 42883.
    None,
    /// Several do equally well: 42725.
    Ambiguous,
}

/// Whether a lone unknown operand is first taken for its partner's type, as of operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// An operator.
    Operator,
    /// A function.
    Function,
}

/// Chooses among candidates by the types of their arguments. An argument of unknown type is `None`. Candidates
/// have as many parameters as there are arguments, or they do not count.
pub fn resolve(candidates: &[&[Kind]], arguments: &[Option<Kind>], call: CallKind) -> Resolution {
    let exact = |wanted: &[Option<Kind>]| {
        candidates.iter().position(|c| {
            c.len() == wanted.len() && c.iter().zip(wanted).all(|(have, want)| Some(*have) == *want)
        })
    };
    if let Some(found) = exact(arguments) {
        return Resolution::Found(found);
    }
    if let (CallKind::Operator, &[l, r]) = (call, arguments)
        && l.is_some() != r.is_some()
        && let Some(found) = exact(&[l.or(r), r.or(l)])
    {
        return Resolution::Found(found);
    }
    let mut left: Vec<usize> = (0..candidates.len())
        .filter(|&i| accepts(candidates[i], arguments))
        .collect();
    keep_best(&mut left, |i| exact_matches(candidates[i], arguments));
    keep_best(&mut left, |i| preferred_matches(candidates[i], arguments));
    match left.as_slice() {
        [] => return Resolution::None,
        [one] => return Resolution::Found(*one),
        _ => {}
    }
    guess_unknown(&mut left, candidates, arguments);
    if let [one] = left.as_slice() {
        return Resolution::Found(*one);
    }
    same_as_known(&left, candidates, arguments)
}

/// The error for an operator that no candidate answers to: 42883, or 42725 where several do.
pub(crate) fn no_operator_between(
    op: &str,
    l: Option<LogicalType>,
    r: Option<LogicalType>,
    resolution: Resolution,
) -> Error {
    no_operator(&format!("{} {op} {}", name_of(l), name_of(r)), resolution)
}

/// The same error for an operator and its operands as a text: `signature`, e.g. `integer + text`.
pub(crate) fn no_operator(signature: &str, resolution: Resolution) -> Error {
    if resolution == Resolution::Ambiguous {
        let message = format!("operator is not unique: {signature}");
        return Error::new(SqlState::AMBIGUOUS_FUNCTION, message).with_hint(
            "could not choose a best candidate operator; you might need to add explicit type casts",
        );
    }
    let message = format!("operator does not exist: {signature}");
    Error::new(SqlState::UNDEFINED_FUNCTION, message).with_hint(
        "no operator matches the given name and argument types; you might need to add explicit type casts",
    )
}

/// The error of a call that fits no function of a name: 42883, or 42725 where several do.
pub(crate) fn unresolved(name: &str, arguments: &[Operand], resolution: Resolution) -> Error {
    let types: Vec<&str> = arguments.iter().map(|a| name_of(a.ty())).collect();
    let signature = format!("{name}({})", types.join(", "));
    if resolution == Resolution::Ambiguous {
        return Error::new(
            SqlState::AMBIGUOUS_FUNCTION,
            format!("function {signature} is not unique"),
        )
        .with_hint("could not choose a best candidate function; you might need to add explicit type casts");
    }
    let error = Error::new(
        SqlState::UNDEFINED_FUNCTION,
        format!("function {signature} does not exist"),
    );
    error.with_hint(NO_MATCH)
}

/// The error of a call that fits no function of a name: 42883.
pub(crate) fn no_function(name: &str, arguments: &[Operand]) -> Error {
    unresolved(name, arguments, Resolution::None)
}

/// The hint of a call that fits no function.
pub(crate) const NO_MATCH: &str =
    "no function matches the given name and argument types; you might need to add explicit type casts";

fn accepts(candidate: &[Kind], arguments: &[Option<Kind>]) -> bool {
    candidate.len() == arguments.len()
        && candidate
            .iter()
            .zip(arguments)
            .all(|(to, from)| from.is_none_or(|from| is_implicit(from, *to)))
}

fn exact_matches(candidate: &[Kind], arguments: &[Option<Kind>]) -> usize {
    let matches = candidate.iter().zip(arguments);
    matches.filter(|(to, from)| **from == Some(**to)).count()
}

fn preferred_matches(candidate: &[Kind], arguments: &[Option<Kind>]) -> usize {
    let suits = |to: Kind, from: Kind| to == from || to.is_preferred() && to.category() == from.category();
    let matches = candidate.iter().zip(arguments);
    matches
        .filter(|(to, from)| from.is_some_and(|from| suits(**to, from)))
        .count()
}

fn keep_best(left: &mut Vec<usize>, score: impl Fn(usize) -> usize) {
    let best = left.iter().map(|&i| score(i)).max().unwrap_or(0);
    left.retain(|&i| score(i) == best);
}

/// Takes unknown arguments for strings where a candidate does, else for the one family that all candidates take,
/// and there for the preferred type.
fn guess_unknown(left: &mut Vec<usize>, candidates: &[&[Kind]], arguments: &[Option<Kind>]) {
    let mut wanted = Vec::new();
    for (at, _) in arguments.iter().enumerate().filter(|a| a.1.is_none()) {
        let kinds = || left.iter().map(|&i| candidates[i][at]);
        let first = kinds().next().map(Kind::category);
        let category = if kinds().any(|k| k.category() == Category::String) {
            Category::String
        } else {
            match first {
                Some(first) if kinds().all(|k| k.category() == first) => first,
                _ => return,
            }
        };
        let has_preferred = kinds().any(|k| k.category() == category && k.is_preferred());
        wanted.push((at, category, has_preferred));
    }
    let fits = |i: usize| {
        wanted.iter().all(|&(at, category, has_preferred)| {
            let kind = candidates[i][at];
            kind.category() == category && (!has_preferred || kind.is_preferred())
        })
    };
    let kept: Vec<usize> = left.iter().copied().filter(|&i| fits(i)).collect();
    if !kept.is_empty() {
        *left = kept;
    }
}

/// Takes unknown arguments for the one type of all known ones.
fn same_as_known(left: &[usize], candidates: &[&[Kind]], arguments: &[Option<Kind>]) -> Resolution {
    let mut known = arguments.iter().flatten();
    let Some(&first) = known.next() else {
        return Resolution::Ambiguous;
    };
    if arguments.iter().all(Option::is_some) || !known.all(|k| *k == first) {
        return Resolution::Ambiguous;
    }
    let all = vec![Some(first); arguments.len()];
    let mut fitting = left.iter().filter(|&&i| accepts(candidates[i], &all));
    match (fitting.next(), fitting.next()) {
        (Some(&one), None) => Resolution::Found(one),
        _ => Resolution::Ambiguous,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Kind::*;

    const NUMBERS: [&[Kind]; 5] = [
        &[SmallInt, SmallInt],
        &[Integer, Integer],
        &[BigInt, BigInt],
        &[Numeric, Numeric],
        &[Double, Double],
    ];

    fn operator(candidates: &[&[Kind]], l: Option<Kind>, r: Option<Kind>) -> Resolution {
        resolve(candidates, &[l, r], CallKind::Operator)
    }

    #[test]
    fn numbers_meet_at_the_wider() {
        for (l, r, wanted) in [
            (Integer, BigInt, 2),
            (SmallInt, Integer, 1),
            (Integer, Numeric, 3),
            (Numeric, Double, 4),
        ] {
            let found = operator(&NUMBERS, Some(l), Some(r));
            assert_eq!(found, Resolution::Found(wanted), "{l:?} {r:?}");
        }
        assert_eq!(operator(&NUMBERS, Some(Integer), Some(Text)), Resolution::None);
    }

    #[test]
    fn unknown_takes_its_partners_type() {
        assert_eq!(operator(&NUMBERS, Some(SmallInt), None), Resolution::Found(0));
        assert_eq!(operator(&NUMBERS, None, Some(Numeric)), Resolution::Found(3));
        // Two unknown operands are of one family: its preferred type.
        assert_eq!(operator(&NUMBERS, None, None), Resolution::Found(4));
    }

    #[test]
    fn families_that_differ_are_ambiguous() {
        let dates: [&[Kind]; 2] = [&[Date, Integer], &[Date, Interval]];
        assert_eq!(operator(&dates, Some(Date), None), Resolution::Ambiguous);
    }

    #[test]
    fn strings_are_preferred_for_unknown() {
        let length: [&[Kind]; 2] = [&[Text], &[Interval]];
        assert_eq!(
            resolve(&length, &[None], CallKind::Function),
            Resolution::Found(0)
        );
        // char(n) beside varchar is compared as char(n), beside text as text.
        let equal: [&[Kind]; 2] = [&[Text, Text], &[Char, Char]];
        assert_eq!(operator(&equal, Some(Char), Some(Varchar)), Resolution::Found(1));
        assert_eq!(operator(&equal, Some(Char), Some(Text)), Resolution::Found(0));
        assert_eq!(
            operator(&equal, Some(Varchar), Some(Varchar)),
            Resolution::Found(0)
        );
    }
}
