//! Predicates: true, false or unknown (`None`) of an item. An error of the document makes them unknown.

use super::arithmetic;
use super::datetime;
use super::evaluate::{Evaluation, Fault};
use super::item::{Item, List};
use frazil_types::CompareOp;
use frazil_types::json::{Expression, Head};
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
                let Some((l, r)) = self.both_unwrapped(both, item)? else {
                    return Ok(None);
                };
                let pairs = l
                    .items()
                    .iter()
                    .flat_map(|l| r.items().iter().map(move |r| (l, r)));
                let clock = self.setting.clock;
                any(self.is_lax, pairs, |(l, r)| {
                    let order = match order(l, r, clock)? {
                        Comparison::Order(order) => order,
                        Comparison::BesideNull => return Ok(Some(*op == CompareOp::Ne)),
                        Comparison::None => return Ok(None),
                    };
                    Ok(Some(holds(*op, order)))
                })?
            }
            Head::StartsWith(both) => {
                let Some(whole) = self.quietly(|own| own.unwrapped(&both[0], item))? else {
                    return Ok(None);
                };
                let Some(initial) = self.quietly(|own| own.items(&both[1], item))? else {
                    return Ok(None);
                };
                let initial = initial.items();
                let pairs = whole
                    .items()
                    .iter()
                    .flat_map(|l| initial.iter().map(move |r| (l, r)));
                any(self.is_lax, pairs, |pair| match pair {
                    (Item::String(whole), Item::String(initial)) => {
                        Ok(Some(whole.starts_with(initial.as_ref())))
                    }
                    _ => Ok(None),
                })?
            }
            Head::LikeRegex(like) => {
                let Some(texts) = self.quietly(|own| own.unwrapped(&like.of, item))? else {
                    return Ok(None);
                };
                let regex = self.compiled.regex(like)?;
                any(self.is_lax, texts.items().iter(), |text| match text {
                    Item::String(text) => Ok(Some(regex.is_match(text))),
                    _ => Ok(None),
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

/// Whether a predicate is true of one of the values. In lax mode the first true one decides, in strict mode an unknown one does.
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

/// How two items stand to each other.
enum Comparison {
    Order(Ordering),
    /// One of them is null, and the other is not: they are different, and not in an order.
    BesideNull,
    /// They are not compared.
    None,
}

fn order(l: &Item<'_>, r: &Item<'_>, clock: Option<super::evaluate::Clock>) -> Result<Comparison, Fault> {
    Ok(Comparison::Order(match (l, r) {
        (Item::Null, Item::Null) => Ordering::Equal,
        (Item::Null, _) | (_, Item::Null) => return Ok(Comparison::BesideNull),
        (Item::Boolean(l), Item::Boolean(r)) => l.cmp(r),
        (Item::Number(l), Item::Number(r)) => arithmetic::order(l, r),
        (Item::String(l), Item::String(r)) => l.cmp(r),
        (Item::Datetime(l), Item::Datetime(r)) => match datetime::order(*l, *r, clock)? {
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
