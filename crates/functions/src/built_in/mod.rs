//! The functions, operators and casts that are there, by the numbers that clients know them by: what `pg_proc`,
//! `pg_operator`, `pg_cast` and their like show, and what an oid or a name means as a regproc, regprocedure or
//! regoperator.
//!
//! `functions.txt`, `operators.txt`, `casts.txt` and `family_operators.txt` are the rows of PostgreSQL 15's catalog of
//! what Frazil has, too: a test of `frazil` calls each. `own_functions.txt` has the functions that PostgreSQL does not
//! have, with numbers above all of PostgreSQL's: a test writes it from the documentation (`own_functions.rs`).

mod definition;

use frazil_types::Kind;
use std::collections::HashMap;
use std::sync::LazyLock;

const FUNCTIONS: &str = include_str!("functions.txt");
const OWN_FUNCTIONS: &str = include_str!("own_functions.txt");
const OPERATORS: &str = include_str!("operators.txt");
const CASTS: &str = include_str!("casts.txt");
const FAMILY_OPERATORS: &str = include_str!("family_operators.txt");

/// Pseudo-types of arguments and results, by PostgreSQL's numbers.
const PSEUDO_TYPES: [(u32, &str); 25] = [
    (32, "pg_ddl_command"),
    (269, "table_am_handler"),
    (325, "index_am_handler"),
    (705, "unknown"),
    (1263, "cstring[]"),
    (2275, "cstring"),
    (2276, "\"any\""),
    (2277, "anyarray"),
    (2278, "void"),
    (2279, "trigger"),
    (2280, "language_handler"),
    (2281, "internal"),
    (2283, "anyelement"),
    (2287, "record[]"),
    (2776, "anynonarray"),
    (3115, "fdw_handler"),
    (3310, "tsm_handler"),
    (3500, "anyenum"),
    (3831, "anyrange"),
    (3838, "event_trigger"),
    (4537, "anymultirange"),
    (5077, "anycompatible"),
    (5078, "anycompatiblearray"),
    (5079, "anycompatiblenonarray"),
    (5080, "anycompatiblerange"),
];

/// A function, by the columns of `pg_proc`.
#[derive(Clone, Debug)]
pub struct BuiltInFunction {
    /// `oid`.
    pub oid: u32,
    /// `proname`.
    pub name: &'static str,
    /// `prokind`: `f` for functions, `a` for aggregates, `w` for window functions.
    pub kind: char,
    /// `proretset`.
    pub gives_rows: bool,
    /// `provolatile`: `i`, `s` or `v`.
    pub volatility: char,
    /// `proisstrict`.
    pub is_strict: bool,
    /// `proleakproof`.
    pub is_leakproof: bool,
    /// `proparallel`: `s`, `r` or `u`.
    pub parallel: char,
    /// True for a function that reads, writes or casts values, which no statement calls by its name.
    pub is_internal: bool,
    /// `aggkind` and `aggnumdirectargs` of an aggregate.
    pub aggregate: Option<(char, usize)>,
    /// `procost`.
    pub cost: f64,
    /// `prorows`: 0 unless it gives rows.
    pub rows: f64,
    /// `provariadic`: the type of the elements of the last argument, or 0.
    pub variadic: u32,
    /// `prorettype`.
    pub result: u32,
    /// `proargtypes`: those that a call gives.
    pub arguments: Vec<u32>,
    /// `proallargtypes`, if columns of the result are among them.
    pub all_arguments: Vec<u32>,
    /// `proargmodes` of `all_arguments`.
    pub modes: &'static str,
    /// `proargnames`; empty if no argument has a name.
    pub names: Vec<&'static str>,
    /// `prosrc`.
    pub source: &'static str,
    /// The defaults of the last arguments, as SQL.
    pub defaults: Vec<&'static str>,
}

/// An operator, by the columns of `pg_operator`.
#[derive(Clone, Copy, Debug)]
pub struct BuiltInOperator {
    /// `oid`.
    pub oid: u32,
    /// `oprname`.
    pub name: &'static str,
    /// `oprkind`: `b` between operands, `l` before one.
    pub kind: &'static str,
    /// `oprcanmerge`.
    pub can_merge: bool,
    /// `oprcanhash`.
    pub can_hash: bool,
    /// `oprleft`: 0 without a left operand.
    pub left: u32,
    /// `oprright`.
    pub right: u32,
    /// `oprresult`.
    pub result: u32,
    /// `oprcom`, or 0.
    pub commutator: u32,
    /// `oprnegate`, or 0.
    pub negator: u32,
    /// `oprcode`: 0 for an operator whose function has no name here.
    pub function: u32,
}

/// A cast, by the columns of `pg_cast`.
#[derive(Clone, Copy, Debug)]
pub struct BuiltInCast {
    /// `oid`.
    pub oid: u32,
    /// `castsource`.
    pub source: u32,
    /// `casttarget`.
    pub target: u32,
    /// `castfunc`, or 0.
    pub function: u32,
    /// `castcontext`: `e`, `a` or `i`.
    pub context: &'static str,
    /// `castmethod`: `f` by the function, `b` for equal bytes, `i` by the text.
    pub method: &'static str,
}

/// An operator of a family of B-trees, by the columns of `pg_amop`.
#[derive(Clone, Copy, Debug)]
pub struct FamilyOperator {
    /// `oid`.
    pub oid: u32,
    /// `amopfamily`.
    pub family: u32,
    /// `amoplefttype`.
    pub left: u32,
    /// `amoprighttype`.
    pub right: u32,
    /// `amopstrategy`.
    pub strategy: u32,
    /// `amopopr`.
    pub operator: u32,
}

static ALL_FUNCTIONS: LazyLock<Vec<BuiltInFunction>> = LazyLock::new(|| {
    // Tests read all lines.
    let lines = FUNCTIONS.lines().chain(OWN_FUNCTIONS.lines());
    lines.filter_map(function).collect()
});

/// Functions by their oids.
static BY_OID: LazyLock<HashMap<u32, usize>> = LazyLock::new(|| {
    let places = ALL_FUNCTIONS.iter().enumerate();
    places.map(|(place, function)| (function.oid, place)).collect()
});

static ALL_OPERATORS: LazyLock<Vec<BuiltInOperator>> =
    LazyLock::new(|| OPERATORS.lines().filter_map(operator).collect());

/// The functions, in the order of their oids.
pub fn functions() -> &'static [BuiltInFunction] {
    &ALL_FUNCTIONS
}

/// The function of an oid.
pub fn function_of(oid: u32) -> Option<&'static BuiltInFunction> {
    BY_OID.get(&oid).map(|place| &ALL_FUNCTIONS[*place])
}

/// The functions of a name.
pub fn functions_named(name: &str) -> impl Iterator<Item = &'static BuiltInFunction> {
    ALL_FUNCTIONS.iter().filter(move |function| function.name == name)
}

/// The operators, in the order of their oids.
pub fn operators() -> &'static [BuiltInOperator] {
    &ALL_OPERATORS
}

/// The casts, in the order of their oids.
pub fn casts() -> impl Iterator<Item = BuiltInCast> {
    CASTS.lines().filter_map(cast)
}

/// The operators of the families of B-trees, in the order of their oids.
pub fn family_operators() -> impl Iterator<Item = FamilyOperator> {
    FAMILY_OPERATORS.lines().filter_map(family_operator)
}

/// The name of a type or pseudo-type, as signatures of functions and operators have it.
pub fn type_name(oid: u32) -> String {
    match (pseudo_name(oid), kind_of(oid.into()), element_of(oid.into())) {
        (Some(name), ..) => name.to_owned(),
        (None, Some(kind), _) => kind.info().name.to_owned(),
        (None, None, Some(element)) => element.info().array_name.to_owned(),
        (None, None, None) => "???".to_owned(),
    }
}

/// The name of the pseudo-type of an oid.
pub(crate) fn pseudo_name(oid: u32) -> Option<&'static str> {
    let found = PSEUDO_TYPES.iter().find(|(known, _)| *known == oid);
    found.map(|(_, name)| *name)
}

/// The oid of a pseudo-type by its name.
pub(crate) fn pseudo_type(name: &str) -> Option<u32> {
    let found = PSEUDO_TYPES.iter().find(|(_, known)| *known == name);
    found.map(|(oid, _)| *oid)
}

/// The kind of a type by PostgreSQL's number.
pub(crate) fn kind_of(number: i64) -> Option<Kind> {
    Kind::ALL
        .into_iter()
        .find(|kind| i64::from(kind.info().oid) == number)
}

/// The kind of the elements of the arrays that have this oid.
pub(crate) fn element_of(number: i64) -> Option<Kind> {
    let is_array = |kind: &Kind| i64::from(kind.info().array_oid) == number;
    Kind::ALL.into_iter().find(is_array).filter(|_| number != 0)
}

/// Numbers with blanks between them.
fn numbers(text: &str) -> Option<Vec<u32>> {
    text.split_whitespace()
        .map(|number| number.parse().ok())
        .collect()
}

/// A number, or 0 for an empty text.
fn number_or<T: std::str::FromStr>(text: &str, empty: T) -> Option<T> {
    if text.is_empty() {
        Some(empty)
    } else {
        text.parse().ok()
    }
}

/// A line of `functions.txt`.
fn function(line: &'static str) -> Option<BuiltInFunction> {
    let fields: Vec<&'static str> = line.split('|').collect();
    let [
        oid,
        name,
        flags,
        aggregate,
        cost,
        rows,
        variadic,
        result,
        arguments,
        all,
        modes,
        names,
        source,
        defaults,
    ] = fields[..]
    else {
        return None;
    };
    let flags: Vec<char> = flags.chars().collect();
    let [
        kind,
        set,
        volatility,
        strict,
        leakproof,
        parallel,
        ref internal @ ..,
    ] = flags[..]
    else {
        return None;
    };
    let mut aggregate = aggregate.chars();
    Some(BuiltInFunction {
        oid: oid.parse().ok()?,
        name,
        kind,
        gives_rows: set == 's',
        volatility,
        is_strict: strict == 't',
        is_leakproof: leakproof == 'l',
        parallel,
        is_internal: !internal.is_empty(),
        aggregate: (aggregate.next()).and_then(|kind| Some((kind, aggregate.as_str().parse().ok()?))),
        cost: number_or(cost, 1.0)?,
        rows: number_or(rows, 0.0)?,
        variadic: number_or(variadic, 0)?,
        result: result.parse().ok()?,
        arguments: numbers(arguments)?,
        all_arguments: numbers(all)?,
        modes,
        names: if names.is_empty() {
            Vec::new()
        } else {
            names.split(' ').collect()
        },
        source: if source.is_empty() { name } else { source },
        defaults: defaults
            .split("; ")
            .filter(|default| !default.is_empty())
            .collect(),
    })
}

/// A line of `operators.txt`.
fn operator(line: &'static str) -> Option<BuiltInOperator> {
    let fields: Vec<&'static str> = line.split(' ').collect();
    let [
        oid,
        name,
        flags,
        left,
        right,
        result,
        commutator,
        negator,
        function,
    ] = fields[..]
    else {
        return None;
    };
    Some(BuiltInOperator {
        oid: oid.parse().ok()?,
        name,
        kind: flags.get(..1)?,
        can_merge: flags.contains('m'),
        can_hash: flags.contains('h'),
        left: left.parse().ok()?,
        right: right.parse().ok()?,
        result: result.parse().ok()?,
        commutator: commutator.parse().ok()?,
        negator: negator.parse().ok()?,
        function: function.parse().ok()?,
    })
}

/// A line of `casts.txt`.
fn cast(line: &'static str) -> Option<BuiltInCast> {
    let (numbered, how) = line.rsplit_once(' ')?;
    let [oid, source, target, function] = numbers(numbered)?[..] else {
        return None;
    };
    Some(BuiltInCast {
        oid,
        source,
        target,
        function,
        context: how.get(..1)?,
        method: how.get(1..)?,
    })
}

/// A line of `family_operators.txt`.
fn family_operator(line: &str) -> Option<FamilyOperator> {
    let [oid, family, left, right, strategy, operator] = numbers(line)?[..] else {
        return None;
    };
    Some(FamilyOperator {
        oid,
        family,
        left,
        right,
        strategy,
        operator,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read() {
        let lines = FUNCTIONS.lines().chain(OWN_FUNCTIONS.lines());
        assert_eq!(functions().len(), lines.count());
        assert!(functions().is_sorted_by_key(|function| function.oid));
        assert_eq!(operators().len(), OPERATORS.lines().count());
        assert_eq!(casts().count(), CASTS.lines().count());
        assert_eq!(family_operators().count(), FAMILY_OPERATORS.lines().count());
    }

    #[test]
    fn every_type_has_a_name() {
        for function in functions() {
            for oid in function.arguments.iter().chain([&function.result]) {
                assert_ne!(type_name(*oid), "???", "{function:?}");
            }
        }
        for operator in operators() {
            let operands = [operator.left, operator.right, operator.result];
            assert!(
                operands.iter().all(|oid| *oid == 0 || type_name(*oid) != "???"),
                "{operator:?}"
            );
        }
    }

    #[test]
    fn what_is_named_is_there() {
        for function in casts()
            .map(|cast| cast.function)
            .chain(operators().iter().map(|o| o.function))
        {
            assert!(function == 0 || function_of(function).is_some(), "{function}");
        }
        let operator = |oid: u32| operators().binary_search_by_key(&oid, |operator| operator.oid);
        for of_family in family_operators() {
            assert!(operator(of_family.operator).is_ok(), "{of_family:?}");
        }
    }
}
