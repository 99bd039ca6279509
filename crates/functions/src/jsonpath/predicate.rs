//! Predicates: true, false or unknown (`None`) of an item. An error of the document makes them unknown.

use super::datetime;
use super::evaluate::{Evaluation, Fault};
use super::item::{Item, List, View};
use frazil_types::CompareOp;
use frazil_types::json::{Expression, Head, compare_numbers};
use std::cmp::Ordering;

/// Unknown is `None`.
type Truth = Result<Option<bool>, Fault>;

impl<'a> Evaluation<'a> {
    /// Whether a predicate is true of an item.
    pub fn predicate(&mut self, head: &'a Head, item: &Item<'a>) -> Truth {
        Ok(match head {
            Head::And(both) => match self.predicate(&both[0].head, item)? {
                Some(false) => Some(false),
                left => match self.predicate(&both[1].head, item)? {
                    Some(true) => left,
                    right => right,
                },
            },
            Head::Or(both) => match self.predicate(&both[0].head, item)? {
                Some(true) => Some(true),
                left => match self.predicate(&both[1].head, item)? {
                    Some(false) => left,
                    right => right,
                },
            },
            Head::Not(of) => self.predicate(&of.head, item)?.map(|truth| !truth),
            Head::IsUnknown(of) => Some(self.predicate(&of.head, item)?.is_none()),
            Head::Compare(op, both) => {
                if let (Some(l), Some(r)) = (self.single(&both[0]), self.single(&both[1])) {
                    return match (l.view(), r.view()) {
                        (Some(l), Some(r)) => Ok(order(l, r, self.setting.clock)?.truth(*op)),
                        _ => Ok(Some(false)),
                    };
                }
                let Some((l, r)) = self.both_unwrapped(both, item)? else {
                    return Ok(None);
                };
                let clock = self.setting.clock;
                any(self.is_lax, pairs(l.items(), r.items()), |(l, r)| {
                    Ok(order(l.view(), r.view(), clock)?.truth(*op))
                })?
            }
            Head::StartsWith(both) => {
                if let (Some(whole), Some(initial)) = (self.single(&both[0]), self.single(&both[1])) {
                    return Ok(match (whole.view(), initial.view()) {
                        (Some(whole), Some(initial)) => starts_with(whole, initial),
                        _ => Some(false),
                    });
                }
                let Some(whole) = self.quietly(|own| own.unwrapped(&both[0], item))? else {
                    return Ok(None);
                };
                let Some(initial) = self.quietly(|own| own.items(&both[1], item))? else {
                    return Ok(None);
                };
                any(
                    self.is_lax,
                    pairs(whole.items(), initial.items()),
                    |(whole, initial)| Ok(starts_with(whole.view(), initial.view())),
                )?
            }
            Head::LikeRegex(like) => {
                let Some(texts) = self.quietly(|own| own.unwrapped(&like.of, item))? else {
                    return Ok(None);
                };
                let regex = self.compiled.regex(like)?;
                any(self.is_lax, texts.items().iter(), |text| {
                    Ok(text.string().map(|text| regex.is_match(text)))
                })?
            }
            Head::Exists(of) if self.is_lax => self.quietly(|own| own.expression(of, item, None))?,
            Head::Exists(of) => {
                let list = self.quietly(|own| own.items(of, item))?;
                list.map(|list| !list.items().is_empty())
            }
            // The grammar lets no value stand here.
            _ => None,
        })
    }

    fn both_unwrapped(
        &mut self,
        both: &'a [Expression; 2],
        item: &Item<'a>,
    ) -> Result<Option<(List<'a>, List<'a>)>, Fault> {
        let Some(l) = self.quietly(|own| own.unwrapped(&both[0], item))? else {
            return Ok(None);
        };
        let r = self.quietly(|own| own.unwrapped(&both[1], item))?;
        Ok(r.map(|r| (l, r)))
    }

    fn items(&mut self, e: &'a Expression, item: &Item<'a>) -> Result<List<'a>, Fault> {
        let mut list = List::default();
        self.expression(e, item, Some(&mut list))?;
        Ok(list)
    }

    /// What something gives; `None` if the document is in error.
    fn quietly<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<Option<T>, Fault> {
        let throws = std::mem::replace(&mut self.throws, false);
        let given = run(self);
        self.throws = throws;
        match given {
            Ok(given) => Ok(Some(given)),
            Err(Fault::Suppressed) => Ok(None),
            Err(fault) => Err(fault),
        }
    }
}

/// Whether a predicate is true of one of the values. In lax mode the first true one decides, in strict mode an
/// unknown one does.
fn any<T>(is_lax: bool, values: impl Iterator<Item = T>, mut truth: impl FnMut(T) -> Truth) -> Truth {
    let (mut is_found, mut is_unknown) = (false, false);
    for value in values {
        match truth(value)? {
            None if !is_lax => return Ok(None),
            None => is_unknown = true,
            Some(true) if is_lax => return Ok(Some(true)),
            Some(true) => is_found = true,
            Some(false) => {}
        }
    }
    Ok(match (is_found, is_unknown) {
        (true, _) => Some(true),
        (false, true) => None,
        (false, false) => Some(false),
    })
}

/// Each of some items with each of others.
fn pairs<'l, 'a>(l: &'l [Item<'a>], r: &'l [Item<'a>]) -> impl Iterator<Item = (&'l Item<'a>, &'l Item<'a>)> {
    l.iter().flat_map(move |l| r.iter().map(move |r| (l, r)))
}

/// How two items stand to each other.
enum Comparison {
    Order(Ordering),
    /// One of them is null, and the other is not: they are different, and not in an order.
    BesideNull,
    /// They are not compared.
    None,
}

impl Comparison {
    /// Whether they stand as an operator wants it.
    fn truth(self, op: CompareOp) -> Option<bool> {
        match self {
            Comparison::Order(order) => Some(holds(op, order)),
            Comparison::BesideNull => Some(op == CompareOp::Ne),
            Comparison::None => None,
        }
    }
}

/// Whether a string begins with another; `None` if one of them is no string.
fn starts_with(whole: View<'_, '_>, initial: View<'_, '_>) -> Option<bool> {
    match (whole, initial) {
        (View::String(whole), View::String(initial)) => Some(whole.starts_with(initial)),
        _ => None,
    }
}

#[inline]
fn order(
    l: View<'_, '_>,
    r: View<'_, '_>,
    clock: Option<super::evaluate::Clock>,
) -> Result<Comparison, Fault> {
    Ok(Comparison::Order(match (l, r) {
        (View::Null, View::Null) => Ordering::Equal,
        (View::Null, _) | (_, View::Null) => return Ok(Comparison::BesideNull),
        (View::Boolean(l), View::Boolean(r)) => l.cmp(&r),
        (View::Number(l), View::Number(r)) => compare_numbers(l, r),
        (View::String(l), View::String(r)) => l.cmp(r),
        (View::Datetime(l), View::Datetime(r)) => match datetime::order(l, r, clock)? {
            Some(order) => order,
            None => return Ok(Comparison::None),
        },
        _ => return Ok(Comparison::None),
    }))
}

fn holds(op: CompareOp, order: Ordering) -> bool {
    match op {
        CompareOp::Eq => order.is_eq(),
        CompareOp::Ne => order.is_ne(),
        CompareOp::Lt => order.is_lt(),
        CompareOp::Le => order.is_le(),
        CompareOp::Gt => order.is_gt(),
        CompareOp::Ge => order.is_ge(),
    }
}
