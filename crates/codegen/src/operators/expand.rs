//! Rows of functions: the rest of the stage is the body of a loop over what the functions give for the row in hand.

use crate::failures::FailurePoint;
use crate::open_loops::{AT, BEHIND, NOT_SET, OpenLoop, OpenPosition, OpenRows, PositionIn};
use crate::sql_value::SqlValue;
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, Block, InstBuilder, types};
use cranelift_frontend::Variable;
use frazil_plan::{Expansion, Expr, ExprKind, RowsCall, RowsFunction};
use frazil_runtime::functions::{Elements, Function};
use frazil_types::value_ops::Series;
use frazil_types::{Error, LogicalType, NativeType, Result, Value};
use std::mem::offset_of;

/// The array without elements as a string: four bytes, all zero.
const EMPTY_ARRAY: i128 = 4;

/// A function while its rows are given.
struct OpenCall {
    /// Rows left: a variable of 64 bits.
    left: Variable,
    /// What it gives for the row in hand, if any is left.
    gives: Gives,
}

enum Gives {
    /// The same value.
    Same(SqlValue),
    /// Values a step apart.
    Series {
        /// The value, as a variable of this form.
        value: Variable,
        native: NativeType,
        step: ir::Value,
        /// Where the [`Series`] lies, if its steps may differ.
        uneven: Option<ir::Value>,
    },
    /// The elements of an array.
    Elements(OpenElements),
}

/// An array while its elements are given.
struct OpenElements {
    /// How elements are held.
    native: NativeType,
    /// The runtime's [`Elements`].
    elements: ir::Value,
    /// Number of elements.
    count: ir::Value,
    /// Address of the first element of fixed width.
    begin: ir::Value,
    /// Where the bytes of the next element of fixed width lie.
    data: Variable,
    /// Of [`Elements::nulls`], [`Elements::null_mask`] and [`Elements::null_width`].
    nulls: ir::Value,
    null_mask: ir::Value,
    null_width: ir::Value,
    /// What is read in place of an element of fixed width that is NULL.
    nothing: ir::Value,
}

/// Bytes in front of the functions' parts of a place: what it says, and the ordinality.
const ROWS_BYTES: usize = 16;
/// Offsets in the part of a function: rows left, then a value, or the distance of an element, or a [`Series`].
const CALL_LEFT: usize = 0;
const CALL_VALUE: usize = 16;
const CALL_SERIES: usize = 32;

/// Rows left and the first value, while a series is opened.
struct Opened {
    left: ir::Value,
    value: ir::Value,
    step: ir::Value,
    uneven: Option<ir::Value>,
}

impl Translator<'_, '_> {
    /// Passes the row on as often as functions give rows for it, then goes to `done`. They may be any number: the loop hears
    /// of a cancel, and releases the strings it makes.
    pub fn expand(&mut self, expansion: &Expansion, at: usize, done: Block) -> Result<()> {
        let mut open = Vec::with_capacity(expansion.calls.len());
        for (_, call) in &expansion.calls {
            open.push(self.open_call(call)?);
        }
        let first = self.word(1);
        let number = expansion.ordinality.map(|id| (id, self.variable(first)));
        let (head, body) = (self.b.create_block(), self.b.create_block());
        let next = self.b.create_block();
        let scratch = self.scratch_mark(at + 1);
        let mut rows = self.open_rows(&open, number.map(|(_, number)| number));
        self.resume_rows(rows.as_ref(), next, head);
        self.enter(head);
        for position in rows.iter_mut().flat_map(|rows| &mut rows.calls) {
            if let PositionIn::Elements { data, before, .. } = &mut position.at {
                *before = Some(self.b.use_var(*data));
            }
        }
        let left: Vec<ir::Value> = open.iter().map(|call| self.b.use_var(call.left)).collect();
        let any = left.iter().copied().reduce(|a, b| self.b.ins().bor(a, b));
        let any = any.ok_or_else(|| Error::internal("rows of no function"))?;
        self.branch(any, body, done);
        self.enter(body);
        for ((call, (id, _)), left) in open.iter().zip(&expansion.calls).zip(left) {
            let is_there = (expansion.pads()).then(|| self.b.ins().icmp_imm_s(IntCC::NotEqual, left, 0));
            let value = match &call.gives {
                Gives::Same(value) => value.with_valid(self.both(value.valid, is_there)),
                Gives::Series { value, native, .. } => {
                    SqlValue::certain(self.b.use_var(*value), *native).with_valid(is_there)
                }
                Gives::Elements(open) => self.element_of_array(open, left, is_there)?,
            };
            self.define(*id, value);
        }
        if let Some((id, number)) = number {
            let number = self.b.use_var(number);
            self.define(id, SqlValue::certain(number, NativeType::I64));
        }
        let around = rows.map(OpenLoop::Rows);
        self.within(around.clone(), |t| t.operators(at + 1, next))?;
        self.enter(next);
        self.within(around, |t| t.release_scratch(scratch))?;
        self.poll_cancel();
        for call in &open {
            self.next_row(call, expansion.pads())?;
        }
        if let Some((_, number)) = number {
            let before = self.b.use_var(number);
            let after = self.b.ins().iadd_imm_s(before, 1);
            self.b.def_var(number, after);
        }
        self.jump(head, &[]);
        Ok(())
    }

    /// The loop as a pause keeps it, if the stage may pause.
    fn open_rows(&mut self, open: &[OpenCall], number: Option<Variable>) -> Option<OpenRows> {
        self.work.place?;
        let mut bytes = ROWS_BYTES;
        let mut calls = Vec::with_capacity(open.len());
        for call in open {
            let (at, size) = match &call.gives {
                Gives::Same(_) => (PositionIn::Same, CALL_VALUE),
                Gives::Series { value, uneven, .. } => {
                    let series = uneven.map_or(0, |_| size_of::<Series>());
                    let (value, uneven) = (*value, *uneven);
                    (PositionIn::Series { value, uneven }, CALL_SERIES + series)
                }
                Gives::Elements(open) => {
                    let (begin, data, before) = (open.begin, open.data, None);
                    (PositionIn::Elements { begin, data, before }, CALL_SERIES)
                }
            };
            let left = call.left;
            calls.push(OpenPosition {
                place: bytes,
                left,
                at,
            });
            bytes += size.next_multiple_of(16);
        }
        let place = self.memory.room(bytes);
        calls.iter_mut().for_each(|call| call.place += place);
        Some(OpenRows { place, number, calls })
    }

    /// Begins the loop at `head`; if its place is set, it goes on at the position kept there, or behind it, at `next`.
    fn resume_rows(&mut self, rows: Option<&OpenRows>, next: Block, head: Block) {
        let Some(rows) = rows else {
            self.jump(head, &[]);
            return;
        };
        let again = self.b.create_block();
        self.b.set_cold_block(again);
        let set = self.place_word(rows.place);
        self.branch(set, again, head);
        self.enter(again);
        let zero = self.word(NOT_SET);
        self.keep_word(zero, rows.place);
        if let Some(number) = rows.number {
            let kept = self.place_word(rows.place + 8);
            self.b.def_var(number, kept);
        }
        for call in &rows.calls {
            let left = self.place_word(call.place + CALL_LEFT);
            self.b.def_var(call.left, left);
            match call.at {
                PositionIn::Same => {}
                PositionIn::Series { value, uneven } => {
                    let native = self.native_of(value);
                    let memory = self.stage_memory();
                    let kept = self.load(native, memory, (call.place + CALL_VALUE) as i32);
                    self.b.def_var(value, kept);
                    if let Some(series) = uneven {
                        let kept = self.b.ins().iadd_imm_s(memory, (call.place + CALL_SERIES) as i64);
                        self.copy_series(kept, series);
                    }
                }
                PositionIn::Elements { begin, data, .. } => {
                    let distance = self.place_word(call.place + CALL_VALUE);
                    let kept = self.b.ins().iadd(begin, distance);
                    self.b.def_var(data, kept);
                }
            }
        }
        let is_over = (self.b.ins()).icmp_imm_s(IntCC::Equal, set, BEHIND as i64);
        self.branch(is_over, next, head);
    }

    /// Keeps the position of a loop that pauses. `is_over`: the row in hand is through.
    pub(crate) fn keep_rows(&mut self, rows: &OpenRows, is_over: bool) {
        let set = self.word(if is_over { BEHIND } else { AT });
        self.keep_word(set, rows.place);
        if let Some(number) = rows.number {
            let number = self.b.use_var(number);
            self.keep_word(number, rows.place + 8);
        }
        for call in &rows.calls {
            let left = self.b.use_var(call.left);
            self.keep_word(left, call.place + CALL_LEFT);
            match call.at {
                PositionIn::Same => {}
                PositionIn::Series { value, uneven } => {
                    let value = self.b.use_var(value);
                    self.keep_word(value, call.place + CALL_VALUE);
                    if let Some(series) = uneven {
                        let memory = self.stage_memory();
                        let kept = self.b.ins().iadd_imm_s(memory, (call.place + CALL_SERIES) as i64);
                        self.copy_series(series, kept);
                    }
                }
                PositionIn::Elements { begin, data, before } => {
                    let data = match before.filter(|_| !is_over) {
                        Some(before) => before,
                        None => self.b.use_var(data),
                    };
                    let distance = self.b.ins().isub(data, begin);
                    self.keep_word(distance, call.place + CALL_VALUE);
                }
            }
        }
    }

    /// Native type of the value of a series.
    fn native_of(&mut self, value: Variable) -> NativeType {
        let value = self.b.use_var(value);
        match self.b.func.dfg.value_type(value) {
            types::I128 => NativeType::I128,
            _ => NativeType::I64,
        }
    }

    fn copy_series(&mut self, from: ir::Value, to: ir::Value) {
        for at in (0..size_of::<Series>()).step_by(8) {
            let word = self.load_word(from, at as i32);
            self.store(word, to, at as i32);
        }
    }

    fn open_call(&mut self, call: &RowsCall) -> Result<OpenCall> {
        match (call.function, &call.arguments[..]) {
            (RowsFunction::Once, [value]) => {
                let value = self.expression(value)?;
                let one = self.word(1);
                let left = self.variable(one);
                let gives = Gives::Same(value);
                Ok(OpenCall { left, gives })
            }
            (RowsFunction::Elements, [array]) => self.open_elements(array, call.ty),
            (RowsFunction::Series, [start, stop, step]) => {
                let native = match call.ty.native() {
                    NativeType::I128 => NativeType::I128,
                    _ => NativeType::I64,
                };
                let opened = self.open_series([start, stop, step], call.ty, native)?;
                let gives = Gives::Series {
                    value: self.variable(opened.value),
                    native,
                    step: opened.step,
                    uneven: opened.uneven,
                };
                let left = self.variable(opened.left);
                Ok(OpenCall { left, gives })
            }
            _ => Err(Error::internal("a function that gives rows of other arguments")),
        }
    }

    /// The rows of a series; none where an argument is NULL.
    fn open_series(&mut self, arguments: [&Expr; 3], ty: LogicalType, native: NativeType) -> Result<Opened> {
        let mut values = Vec::with_capacity(arguments.len());
        for e in arguments {
            let value = self.expression(e)?;
            let native = if e.ty.is_span() { NativeType::I128 } else { native };
            values.push(self.coerce(value, native));
        }
        let valid = values.iter().fold(None, |all, v| self.both(all, v.valid));
        let [start, stop, step] = [values[0].value, values[1].value, values[2].value];
        let is_by_one = matches!(arguments[2].kind, ExprKind::Constant(Value::Int(1)));
        if is_by_one && native == NativeType::I64 {
            let left = self.rows_by_one(start, stop);
            let left = self.or_zero(valid, left);
            return Ok(Opened {
                left,
                value: start,
                step,
                uneven: None,
            });
        }
        let series = self.stack_array(size_of::<Series>());
        let none = self.word(0);
        self.store(none, series, offset_of!(Series, left) as i32);
        self.store(none, series, offset_of!(Series, is_uneven) as i32);
        let (known, opened) = (self.b.create_block(), self.b.create_block());
        match valid {
            Some(valid) => self.branch(valid, known, opened),
            None => self.jump(known, &[]),
        }
        self.enter(known);
        let context = self.context;
        let is_timestamp = ty.scale().is_none();
        match is_timestamp {
            true => {
                let (step, zone) = (self.spill(step), self.small(ty.zone().code()));
                let arguments = [context, start, stop, step, zone, series];
                self.call_checked(Function::SeriesOfTimestamps, &arguments, FailurePoint::CALL)?;
            }
            false => {
                let [start, stop, step] = [start, stop, step].map(|value| {
                    let wide = self.coerce(SqlValue::certain(value, native), NativeType::I128);
                    self.spill(wide.value)
                });
                let arguments = [context, start, stop, step, series];
                self.call_checked(Function::SeriesOfIntegers, &arguments, FailurePoint::CALL)?;
            }
        }
        self.jump(opened, &[]);
        self.enter(opened);
        Ok(Opened {
            left: self.load_word(series, offset_of!(Series, left) as i32),
            value: self.load(native, series, offset_of!(Series, value) as i32),
            step: self.load(native, series, offset_of!(Series, step) as i32),
            uneven: is_timestamp.then_some(series),
        })
    }

    /// Rows of the integers from `start` to `stop`.
    fn rows_by_one(&mut self, start: ir::Value, stop: ir::Value) -> ir::Value {
        let more = self.b.ins().isub(stop, start);
        let rows = self.b.ins().iadd_imm_s(more, 1);
        // All integers there are are one more than 64 bits count.
        let all = self.word(u64::MAX);
        let rows = self.b.ins().select(rows, rows, all);
        let some = self.icmp(IntCC::SignedLessThanOrEqual, start, stop);
        self.or_zero(Some(some), rows)
    }

    /// Opens an array: none of its elements where it is NULL.
    fn open_elements(&mut self, array: &Expr, element: LogicalType) -> Result<OpenCall> {
        let mut array = self.expression(array)?;
        if let Some(valid) = array.valid {
            // Four bytes, all zero, are the array without elements.
            let empty = self.int(NativeType::String, EMPTY_ARRAY);
            array.value = self.b.ins().select(valid, array.value, empty);
        }
        let elements = self.stack_array(size_of::<Elements>());
        let (function, what) = match element.native() {
            NativeType::String => (Function::ArrayStrings, element.code()),
            native => (Function::ArrayNumbers, native.size() as u64),
        };
        let (array, what) = (self.spill(array.value), self.word(what));
        let point = FailurePoint::damaged_array(element);
        self.call_checked(function, &[array, what, elements], point)?;
        let count = self.load_word(elements, offset_of!(Elements, count) as i32);
        let data = self.load_word(elements, offset_of!(Elements, data) as i32);
        let nothing = self.int(NativeType::I128, 0);
        let open = OpenElements {
            native: element.native(),
            elements,
            count,
            begin: data,
            data: self.variable(data),
            nulls: self.load_word(elements, offset_of!(Elements, nulls) as i32),
            null_mask: self.load_word(elements, offset_of!(Elements, null_mask) as i32),
            null_width: self.load_word(elements, offset_of!(Elements, null_width) as i32),
            nothing: self.spill(nothing),
        };
        let left = self.variable(count);
        let gives = Gives::Elements(open);
        Ok(OpenCall { left, gives })
    }

    /// The element in hand, with `left` of them left; NULL where it is not there any more.
    fn element_of_array(
        &mut self,
        open: &OpenElements,
        left: ir::Value,
        is_there: Option<ir::Value>,
    ) -> Result<SqlValue> {
        if open.native == NativeType::String {
            let at = self.b.ins().isub(open.count, left);
            let valid = self.is_element_valid(open, at);
            let valid = self.both(Some(valid), is_there);
            let elements = open.elements;
            return self.where_valid(valid, open.native, |t| {
                t.call_out(Function::ElementString, &[elements, at], NativeType::String)
            });
        }
        // Of an array without NULLs nothing is asked for its elements.
        let (nullable, certain) = (self.b.create_block(), self.b.create_block());
        let found = self.block(&[types::I8, types::I64, types::I64]);
        let data = self.b.use_var(open.data);
        self.branch(open.null_mask, nullable, certain);
        self.enter(nullable);
        let width = self.word(open.native.size() as u64);
        let at = self.b.ins().isub(open.count, left);
        let valid = self.is_element_valid(open, at);
        let place = self.b.ins().select(valid, data, open.nothing);
        let step = self.b.ins().select(valid, width, open.null_width);
        let after = self.b.ins().iadd(data, step);
        self.jump(found, &[valid, place, after]);
        self.enter(certain);
        let valid = self.b.ins().iconst(types::I8, 1);
        let after = self.b.ins().iadd_imm_s(data, open.native.size() as i64);
        self.jump(found, &[valid, data, after]);
        let [valid, mut place, after] = self.enter(found)[..] else {
            return Err(Error::internal("an element has three parts"));
        };
        let valid = match is_there {
            Some(is_there) => {
                let valid = self.b.ins().band(valid, is_there);
                place = self.b.ins().select(valid, place, open.nothing);
                valid
            }
            None => valid,
        };
        let value = self.load(open.native, place, 0);
        self.b.def_var(open.data, after);
        Ok(SqlValue::certain(value, open.native).with_valid(Some(valid)))
    }

    /// Whether the element at a place from 0 is not NULL: 1 or 0.
    fn is_element_valid(&mut self, open: &OpenElements, at: ir::Value) -> ir::Value {
        let byte = self.b.ins().ushr_imm_u(at, 3);
        let byte = self.b.ins().band(byte, open.null_mask);
        let byte = self.b.ins().iadd(open.nulls, byte);
        let byte = self.load(NativeType::Bool, byte, 0);
        let bit = self.b.ins().band_imm_u(at, 7);
        let bit = self.b.ins().ireduce(types::I8, bit);
        let bit = self.b.ins().ushr(byte, bit);
        let bit = self.b.ins().bxor_imm_u(bit, 1);
        self.b.ins().band_imm_u(bit, 1)
    }

    fn or_zero(&mut self, condition: Option<ir::Value>, value: ir::Value) -> ir::Value {
        let Some(condition) = condition else { return value };
        let zero = self.word(0);
        self.b.ins().select(condition, value, zero)
    }

    /// Comes to the next row of a function. `ends`: whether it may have none left.
    fn next_row(&mut self, call: &OpenCall, ends: bool) -> Result<()> {
        let left = self.b.use_var(call.left);
        let mut fewer = self.b.ins().iadd_imm_s(left, -1);
        if ends {
            fewer = self.or_zero(Some(left), fewer);
        }
        self.b.def_var(call.left, fewer);
        let (value, native, step, uneven) = match &call.gives {
            Gives::Same(_) | Gives::Elements(_) => return Ok(()),
            Gives::Series {
                value,
                native,
                step,
                uneven,
            } => (value, native, step, uneven),
        };
        let before = self.b.use_var(*value);
        let after = self.b.ins().iadd(before, *step);
        self.b.def_var(*value, after);
        let Some(series) = *uneven else { return Ok(()) };
        // The steps of months are added where the series lies. Of one that had ended nothing is asked.
        let is_uneven = self.load_word(series, offset_of!(Series, is_uneven) as i32);
        let is_uneven = self.or_zero(Some(left), is_uneven);
        let (add, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(add);
        self.branch(is_uneven, add, on);
        self.enter(add);
        let context = self.context;
        self.call_checked(Function::SeriesAdvance, &[context, series], FailurePoint::CALL)?;
        let (left, next) = (
            self.load_word(series, offset_of!(Series, left) as i32),
            self.load(*native, series, offset_of!(Series, value) as i32),
        );
        self.b.def_var(call.left, left);
        self.b.def_var(*value, next);
        self.jump(on, &[]);
        self.enter(on);
        Ok(())
    }
}
