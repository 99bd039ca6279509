//! What a path finds in a document: PostgreSQL's rules for lax and strict mode, step by step. Values are read where
//! they lie: a step goes by the offsets of the binary form.

use super::Compiled;
use super::arithmetic::{compute, position};
use super::item::{Item, List, Single, View};
use frazil_types::json::{Arithmetic, Expression, Head, LAST_LEVEL, Step, Stored, member, negated};
use frazil_types::{Error, Result, SqlState, Zone};

/// Free stack below which more is taken, and how much.
const RED_ZONE: usize = 128 << 10;
const STACK: usize = 1 << 20;
/// Levels between two looks at the free stack: a level takes 2 KiB of it in release code, and less than 16 KiB
/// without optimization.
const MEASURED: usize = 8;
/// Expressions and levels of a document within one another. Paths that restart at `$` in nested filters reach it.
const MAX_LEVELS: usize = 10_000;
/// Values between two looks at the statement's cancel flag.
const POLLED: usize = 1 << 10;
/// Between the ids of the members of one object and those of the next.
const IDS: i64 = 10_000_000_000;

/// Why an evaluation ends early.
#[derive(Debug)]
pub(super) enum Fault {
    /// An error that the call or a predicate does not want to see.
    Suppressed,
    Raised(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Raised(error)
    }
}

/// Whether something was found.
pub(super) type Outcome = std::result::Result<bool, Fault>;

/// The session's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    pub zone: Zone,
    /// Microseconds since 1970-01-01 00:00 UTC.
    pub now: i64,
}

/// What a path is evaluated with.
pub(super) struct Setting<'a> {
    pub document: &'a [u8],
    /// The object, in its binary form, whose members `$name` stands for; no bytes where a call gives none, and `None`
    /// for operators, by which all of them are null.
    pub variables: Option<&'a [u8]>,
    /// Whether errors that a document makes are raised.
    pub throws: bool,
    /// Where zones may decide.
    pub clock: Option<Clock>,
    /// Error 57014 once the statement is cancelled.
    pub poll: &'a dyn Fn() -> Result<()>,
}

pub(super) struct Evaluation<'a> {
    pub compiled: &'a Compiled,
    pub setting: &'a Setting<'a>,
    root: Item<'a>,
    pub is_lax: bool,
    /// `@`.
    pub current: Item<'a>,
    /// Whether what does not fit the structure is passed over.
    ignores_structure: bool,
    pub throws: bool,
    /// Elements of the array whose subscripts are evaluated.
    size: usize,
    /// Where the object that ids count from lies, and its number.
    pub base: (usize, i64),
    /// The next number of an object that is made.
    pub next_object: i64,
    levels: usize,
    polls: usize,
}

/// Steps of which the first is taken with each element or member, and which of them.
struct Below<'a> {
    steps: &'a [Step],
    first: u32,
    last: u32,
    ignores_structure: bool,
    /// Whether the first step goes through arrays.
    unwraps: bool,
}

/// Where plain steps lead.
enum Plainly<'a> {
    /// To this value in its binary form, with these steps left.
    At(&'a [u8], &'a [Step]),
    /// To nothing, which is passed over.
    Nowhere,
}

impl<'a> Evaluation<'a> {
    #[inline]
    pub fn new(compiled: &'a Compiled, setting: &'a Setting<'a>) -> Evaluation<'a> {
        let root = Item::Stored(setting.document);
        let is_lax = !compiled.path.is_strict;
        Evaluation {
            compiled,
            is_lax,
            current: root.clone(),
            ignores_structure: is_lax,
            throws: setting.throws,
            size: 0,
            base: (setting.document.as_ptr() as usize, 0),
            // 0 is the document, 1 the variables.
            next_object: 2,
            root,
            setting,
            levels: 0,
            polls: 0,
        }
    }

    /// Evaluates the path. Without a list only whether there is an item is asked: in lax mode for the first one.
    pub fn run(&mut self, found: Option<&mut List<'a>>) -> Outcome {
        let (compiled, root) = (self.compiled, self.root.clone());
        if found.is_none() && !self.is_lax {
            // All items are looked at, as one of them may be an error.
            let mut list = List::default();
            self.expression(&compiled.path.root, &root, Some(&mut list))?;
            return Ok(!list.items().is_empty());
        }
        self.expression(&compiled.path.root, &root, found)
    }

    /// An error of the document, whose message is made if someone reads it.
    pub fn fault(&self, state: SqlState, message: impl FnOnce() -> String) -> Fault {
        match self.throws {
            true => Fault::Raised(Error::new(state, message())),
            false => Fault::Suppressed,
        }
    }

    /// An error of the structure, unless such are passed over: then nothing is found.
    fn misfit(&self, state: SqlState, message: impl FnOnce() -> String) -> Outcome {
        match self.ignores_structure {
            true => Ok(false),
            false => Err(self.fault(state, message)),
        }
    }

    /// Runs something a level deeper. Errors 54001, 57014.
    fn deeper(&mut self, run: impl FnOnce(&mut Self) -> Outcome) -> Outcome {
        self.polls += 1;
        if self.polls.is_multiple_of(POLLED) {
            (self.setting.poll)()?;
        }
        if self.levels == MAX_LEVELS {
            let message = format!("a jsonpath goes more than {MAX_LEVELS} levels deep");
            return Err(Error::new(SqlState::STATEMENT_TOO_COMPLEX, message).into());
        }
        self.levels += 1;
        let outcome = match self.levels.is_multiple_of(MEASURED) {
            true => stacker::maybe_grow(RED_ZONE, STACK, || run(self)),
            false => run(self),
        };
        self.levels -= 1;
        outcome
    }

    /// Evaluates an expression for an item.
    pub fn expression(
        &mut self,
        e: &'a Expression,
        item: &Item<'a>,
        found: Option<&mut List<'a>>,
    ) -> Outcome {
        match (self.reach(e).map(Single::item), found) {
            (None, found) => self.deeper(|own| own.head(e, item, found)),
            (Some(None), _) => Ok(false),
            (Some(Some(_)), None) => Ok(true),
            (Some(Some(single)), Some(found)) => {
                found.push(single);
                Ok(true)
            }
        }
    }

    fn head(&mut self, e: &'a Expression, item: &Item<'a>, found: Option<&mut List<'a>>) -> Outcome {
        let is_asked = found.is_some() || !e.steps.is_empty();
        let base = self.base;
        let made = match &e.head {
            Head::Root => {
                self.base = (self.setting.document.as_ptr() as usize, 0);
                self.root.clone()
            }
            Head::Current => self.current.clone(),
            Head::Arithmetic(op, both) => return self.arithmetic(*op, both, e, item, found),
            Head::Sign { is_minus, of } => return self.sign(*is_minus, of, e, item, found),
            head if head.is_predicate() => Item::of_truth(self.predicate(head, item)?),
            // A variable that there is none of is an error whoever asks.
            Head::Variable(name) => self.variable(name)?,
            _ if !is_asked => return Ok(true),
            Head::Last => Item::Number((self.size as i64 - 1).to_string().into()),
            head => Item::constant(head),
        };
        let outcome = self.next(&e.steps, &made, found);
        self.base = base;
        outcome
    }

    /// A variable's value. Error 42704.
    fn variable(&mut self, name: &str) -> std::result::Result<Item<'a>, Fault> {
        let Some(variables) = self.setting.variables else {
            return Ok(Item::Null);
        };
        let value = member(variables, name);
        let value = value.ok_or_else(|| {
            let message = format!("could not find jsonpath variable \"{name}\"");
            Error::new(SqlState::UNDEFINED_OBJECT, message)
        })?;
        self.base = (value.as_ptr() as usize, 1);
        Ok(Item::Stored(value))
    }

    /// Takes an item through the steps; with none left it is found.
    pub fn next(&mut self, steps: &'a [Step], item: &Item<'a>, found: Option<&mut List<'a>>) -> Outcome {
        self.on(steps, item, found, self.is_lax)
    }

    /// As [`Evaluation::next`]; `unwraps`: whether the first step goes through an array.
    fn on(
        &mut self,
        steps: &'a [Step],
        item: &Item<'a>,
        found: Option<&mut List<'a>>,
        unwraps: bool,
    ) -> Outcome {
        let (Some(_), Item::Stored(binary)) = (steps.first(), item) else {
            return self.arrive(steps, item, found, unwraps);
        };
        match self.plainly(steps, binary) {
            Plainly::Nowhere => Ok(false),
            Plainly::At(_, left) if left.len() == steps.len() => self.arrive(steps, item, found, unwraps),
            Plainly::At(binary, left) => self.arrive(left, &Item::Stored(binary), found, self.is_lax),
        }
    }

    /// Finds an item, or takes it through the first of the steps, a level deeper.
    fn arrive(
        &mut self,
        steps: &'a [Step],
        item: &Item<'a>,
        found: Option<&mut List<'a>>,
        unwraps: bool,
    ) -> Outcome {
        if !steps.is_empty() {
            return self.deeper(|own| own.step(steps, item, found, unwraps));
        }
        if let Some(found) = found {
            found.push(item.clone());
        }
        Ok(true)
    }

    /// Goes from a stored value by the first steps, as long as each leads to one value at most: members of objects
    /// and elements at a position. Stops before a step that is of another kind, goes through an array, or is in
    /// error.
    #[inline]
    fn plainly(&self, steps: &'a [Step], mut binary: &'a [u8]) -> Plainly<'a> {
        for (at, step) in steps.iter().enumerate() {
            let inner = match (step, Stored::new(binary)) {
                (Step::Key(key), Stored::Object(object)) => object.get(key),
                (Step::Element(position), Stored::Array(array)) => array.get((*position).into()),
                _ => return Plainly::At(binary, &steps[at..]),
            };
            match inner {
                Some(inner) => binary = inner,
                None if self.ignores_structure => return Plainly::Nowhere,
                None => return Plainly::At(binary, &steps[at..]),
            }
        }
        Plainly::At(binary, &[])
    }

    /// Takes an item through the first of the steps and on; `unwraps`: of an array each element instead, where the
    /// step is not for arrays.
    fn step(
        &mut self,
        steps: &'a [Step],
        item: &Item<'a>,
        found: Option<&mut List<'a>>,
        unwraps: bool,
    ) -> Outcome {
        let Some((step, rest)) = steps.split_first() else {
            return self.next(steps, item, found);
        };
        let goes_through = match step {
            Step::Key(_) | Step::AnyKey | Step::Filter(_) | Step::Datetime(_) => true,
            Step::Method(method) => super::methods::goes_through(*method),
            Step::AnyElement | Step::Element(_) | Step::Elements(_) | Step::AnyBelow { .. } => false,
        };
        if unwraps && goes_through && item.is_array() {
            return self.elements(steps, item, found, false);
        }
        match step {
            Step::Key(key) => self.key(key, rest, item, found),
            Step::AnyKey if matches!(item.view(), View::Object(_) | View::Pair(_)) => {
                self.elements(rest, item, found, self.is_lax)
            }
            Step::AnyKey => self.misfit(SqlState::JSON_OBJECT_NOT_FOUND, || {
                "jsonpath wildcard member accessor can only be applied to an object".to_owned()
            }),
            Step::AnyElement if item.is_array() => self.elements(rest, item, found, self.is_lax),
            Step::AnyElement if self.is_lax => self.next(rest, item, found),
            Step::AnyElement => self.misfit(SqlState::JSON_ARRAY_NOT_FOUND, || {
                "jsonpath wildcard array accessor can only be applied to an array".to_owned()
            }),
            Step::Element(position) if item.is_array() || self.is_lax => {
                self.position(i64::from(*position), rest, item, found)
            }
            Step::Elements(list) if item.is_array() || self.is_lax => self.positions(list, rest, item, found),
            Step::Element(_) | Step::Elements(_) => self.misfit(SqlState::JSON_ARRAY_NOT_FOUND, || {
                "jsonpath array accessor can only be applied to an array".to_owned()
            }),
            Step::AnyBelow { first, last } => self.any_below(*first, *last, rest, item, found),
            Step::Filter(predicate) => {
                let outer = std::mem::replace(&mut self.current, item.clone());
                let truth = self.predicate(&predicate.head, item);
                self.current = outer;
                match truth? {
                    Some(true) => self.next(rest, item, found),
                    Some(false) | None => Ok(false),
                }
            }
            Step::Method(method) => self.method(*method, rest, item, found),
            Step::Datetime(template) => self.datetime(template.as_deref(), rest, item, found),
        }
    }

    fn key(&mut self, key: &str, rest: &'a [Step], item: &Item<'a>, found: Option<&mut List<'a>>) -> Outcome {
        let value = match item.view() {
            View::Object(object) => object.get(key).map(Item::Stored),
            View::Pair(pair) => pair.members().into_iter().find(|m| m.0 == key).map(|m| m.1),
            _ => {
                return self.misfit(SqlState::JSON_MEMBER_NOT_FOUND, || {
                    "jsonpath member accessor can only be applied to an object".to_owned()
                });
            }
        };
        match value {
            Some(value) => self.next(rest, &value, found),
            None => self.misfit(SqlState::JSON_MEMBER_NOT_FOUND, || {
                format!("JSON object does not contain key \"{key}\"")
            }),
        }
    }

    /// Takes each element or member of an item through the steps.
    pub fn elements(
        &mut self,
        steps: &'a [Step],
        item: &Item<'a>,
        found: Option<&mut List<'a>>,
        unwraps: bool,
    ) -> Outcome {
        let below = Below {
            steps,
            first: 1,
            last: 1,
            ignores_structure: false,
            unwraps,
        };
        self.below(&below, item, 1, found)
    }

    fn any_below(
        &mut self,
        first: u32,
        last: u32,
        rest: &'a [Step],
        item: &Item<'a>,
        mut found: Option<&mut List<'a>>,
    ) -> Outcome {
        let mut is_found = false;
        if first == 0 {
            let ignores_structure = std::mem::replace(&mut self.ignores_structure, true);
            let outcome = self.next(rest, item, found.as_deref_mut());
            self.ignores_structure = ignores_structure;
            is_found = outcome?;
            if is_found && found.is_none() {
                return Ok(true);
            }
        }
        if !item.is_container() {
            return Ok(is_found);
        }
        let below = Below {
            steps: rest,
            first,
            last,
            ignores_structure: true,
            unwraps: self.is_lax,
        };
        self.below(&below, item, 1, found)
    }

    /// Takes what lies in an item through the steps: its elements or members, which lie `level` levels below where
    /// the search began, and what lies in them.
    fn below(
        &mut self,
        below: &Below<'a>,
        item: &Item<'a>,
        level: u32,
        mut found: Option<&mut List<'a>>,
    ) -> Outcome {
        if level > below.last {
            return Ok(false);
        }
        let mut is_found = false;
        let mut visit = |own: &mut Self, inner: Item<'a>| -> Outcome {
            let wants_leaves = below.first == LAST_LEVEL && below.last == LAST_LEVEL;
            if level >= below.first || wants_leaves && !inner.is_container() {
                let ignores_structure = own.ignores_structure;
                own.ignores_structure |= below.ignores_structure;
                let outcome = own.on(below.steps, &inner, found.as_deref_mut(), below.unwraps);
                own.ignores_structure = ignores_structure;
                is_found = outcome?;
                if is_found && found.is_none() {
                    return Ok(true);
                }
            }
            if level < below.last && inner.is_container() {
                is_found = own.deeper(|own| own.below(below, &inner, level + 1, found.as_deref_mut()))?;
            }
            Ok(is_found && found.is_none())
        };
        match item.view() {
            View::Array(array) => {
                for element in array.elements() {
                    if visit(self, Item::Stored(element))? {
                        return Ok(true);
                    }
                }
            }
            View::Object(object) => {
                for (_, value) in object.members() {
                    if visit(self, Item::Stored(value))? {
                        return Ok(true);
                    }
                }
            }
            View::Pair(pair) => {
                for (_, value) in pair.members() {
                    if visit(self, value)? {
                        return Ok(true);
                    }
                }
            }
            View::Null | View::Boolean(_) | View::Number(_) | View::String(_) | View::Datetime(_) => {}
        }
        Ok(is_found)
    }

    /// Takes the element at a position through the steps. In lax mode what is no array is an array of one.
    fn position(
        &mut self,
        position: i64,
        rest: &'a [Step],
        item: &Item<'a>,
        found: Option<&mut List<'a>>,
    ) -> Outcome {
        let array = item.array();
        let size = array.map_or(1, |array| array.len());
        self.check_positions(position, position, size)?;
        let element = match array {
            Some(array) => array.get(position).map(Item::Stored),
            None => (position == 0).then(|| item.clone()),
        };
        match element {
            Some(element) => self.next(rest, &element, found),
            None => Ok(false),
        }
    }

    /// Error 22033 for positions that are not all in an array of `size` elements, unless such are passed over.
    fn check_positions(&self, first: i64, last: i64, size: usize) -> std::result::Result<(), Fault> {
        if !self.ignores_structure && (first < 0 || first > last || last >= size as i64) {
            return Err(self.fault(SqlState::INVALID_JSON_SUBSCRIPT, || {
                "jsonpath array subscript is out of bounds".to_owned()
            }));
        }
        Ok(())
    }

    /// Takes the elements at some positions through the steps. In lax mode what is no array is an array of one.
    fn positions(
        &mut self,
        list: &'a [(Expression, Option<Expression>)],
        rest: &'a [Step],
        item: &Item<'a>,
        mut found: Option<&mut List<'a>>,
    ) -> Outcome {
        let array = item.array();
        let size = array.map_or(1, |array| array.len());
        let outer = std::mem::replace(&mut self.size, size);
        let mut is_found = false;
        let mut visit = |own: &mut Self| -> Outcome {
            for (from, to) in list {
                let first = own.subscript(from, item)?;
                let last = match to {
                    Some(to) => own.subscript(to, item)?,
                    None => first,
                };
                own.check_positions(first, last, size)?;
                is_found = false;
                for index in first.max(0)..=last.min(size as i64 - 1) {
                    let element = match array {
                        Some(array) => array.get(index).map(Item::Stored),
                        None => Some(item.clone()),
                    };
                    let Some(element) = element else { continue };
                    is_found = own.next(rest, &element, found.as_deref_mut())?;
                    if is_found && found.is_none() {
                        return Ok(true);
                    }
                }
            }
            Ok(is_found)
        };
        let outcome = visit(self);
        self.size = outer;
        outcome
    }

    /// The position that a subscript is.
    fn subscript(&mut self, subscript: &'a Expression, item: &Item<'a>) -> std::result::Result<i64, Fault> {
        let mut list = List::default();
        self.expression(subscript, item, Some(&mut list))?;
        let Some(digits) = list.number() else {
            return Err(self.fault(SqlState::INVALID_JSON_SUBSCRIPT, || {
                "jsonpath array subscript is not a single numeric value".to_owned()
            }));
        };
        position(digits).ok_or_else(|| {
            self.fault(SqlState::INVALID_JSON_SUBSCRIPT, || {
                "jsonpath array subscript is out of integer range".to_owned()
            })
        })
    }

    /// The items of an expression; of arrays among them, in lax mode, the elements.
    pub fn unwrapped(&mut self, e: &'a Expression, item: &Item<'a>) -> std::result::Result<List<'a>, Fault> {
        match self.single(e) {
            Some(single) => Ok(List::of(single.item())),
            None => self.unwrapped_of_many(e, item),
        }
    }

    /// What [`Evaluation::reach`] gives, unless it is to be unwrapped.
    #[inline]
    pub fn single(&self, e: &'a Expression) -> Option<Single<'a>> {
        match self.reach(e)? {
            Single::Stored(binary) if self.is_lax && matches!(View::of_stored(binary), View::Array(_)) => {
                None
            }
            single => Some(single),
        }
    }

    /// The item of an expression that gives one at most: a constant, or what plain steps lead to. `None` for others.
    #[inline]
    fn reach(&self, e: &'a Expression) -> Option<Single<'a>> {
        let start = match &e.head {
            Head::Current => &self.current,
            Head::Root => &self.root,
            Head::Null | Head::Boolean(_) | Head::Number(_) | Head::String(_) if e.steps.is_empty() => {
                return Some(Single::Constant(&e.head));
            }
            _ => return None,
        };
        let (Item::Stored(binary), None | Some(Step::Key(_) | Step::Element(_))) = (start, e.steps.last())
        else {
            return None;
        };
        match self.plainly(&e.steps, binary) {
            Plainly::Nowhere => Some(Single::Nothing),
            Plainly::At(binary, []) => Some(Single::Stored(binary)),
            Plainly::At(..) => None,
        }
    }

    fn unwrapped_of_many(
        &mut self,
        e: &'a Expression,
        item: &Item<'a>,
    ) -> std::result::Result<List<'a>, Fault> {
        let mut list = List::default();
        self.expression(e, item, Some(&mut list))?;
        if !self.is_lax || !list.items().iter().any(Item::is_array) {
            return Ok(list);
        }
        let mut all = List::default();
        for item in list.items() {
            match item.array() {
                Some(array) => array
                    .elements()
                    .for_each(|element| all.push(Item::Stored(element))),
                None => all.push(item.clone()),
            }
        }
        Ok(all)
    }

    fn arithmetic(
        &mut self,
        op: Arithmetic,
        [l, r]: &'a [Expression; 2],
        e: &'a Expression,
        item: &Item<'a>,
        found: Option<&mut List<'a>>,
    ) -> Outcome {
        let (left, right) = (self.unwrapped(l, item)?, self.unwrapped(r, item)?);
        let missing = |own: &Self, side: &str| {
            own.fault(SqlState::SINGLETON_JSON_ITEM_REQUIRED, || {
                let symbol = op.symbol();
                format!("{side} operand of jsonpath operator {symbol} is not a single numeric value")
            })
        };
        let left = left.number().ok_or_else(|| missing(self, "left"))?;
        let right = right.number().ok_or_else(|| missing(self, "right"))?;
        let result = compute(op, left, right).map_err(|error| match self.throws {
            true => Fault::Raised(error),
            false => Fault::Suppressed,
        })?;
        self.next(&e.steps, &Item::Number(result.into()), found)
    }

    fn sign(
        &mut self,
        is_minus: bool,
        of: &'a Expression,
        e: &'a Expression,
        item: &Item<'a>,
        mut found: Option<&mut List<'a>>,
    ) -> Outcome {
        let list = self.unwrapped(of, item)?;
        let is_asked = found.is_some() || !e.steps.is_empty();
        let mut is_found = false;
        for item in list.items() {
            let signed = match item.number() {
                Some(_) if !is_asked => return Ok(true),
                Some(digits) if is_minus => Item::Number(negated(digits).into()),
                Some(_) => item.clone(),
                None if !is_asked => continue,
                None => {
                    let sign = if is_minus { '-' } else { '+' };
                    return Err(self.fault(SqlState::JSON_NUMBER_NOT_FOUND, || {
                        format!("operand of unary jsonpath operator {sign} is not a numeric value")
                    }));
                }
            };
            if self.next(&e.steps, &signed, found.as_deref_mut())? {
                is_found = true;
                if found.is_none() {
                    return Ok(true);
                }
            }
        }
        Ok(is_found)
    }

    /// The number of the object at an address, of which those of its members come.
    pub fn id_at(&self, address: usize) -> i64 {
        let (start, number) = self.base;
        address as i64 - start as i64 + number * IDS
    }

    /// The id of the members of an object that was made.
    pub fn id_of_made(own: i64) -> i64 {
        own * IDS
    }
}
