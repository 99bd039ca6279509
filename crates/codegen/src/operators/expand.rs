//! Rows of functions: the rest of the stage is the body of a loop over what the functions give for the row in hand.

use crate::failures::FailurePoint;
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
    /// Where the bytes of the next element of fixed width lie.
    data: Variable,
    /// Of [`Elements::nulls`], [`Elements::null_mask`] and [`Elements::null_width`].
    nulls: ir::Value,
    null_mask: ir::Value,
    null_width: ir::Value,
    /// What is read in place of an element of fixed width that is NULL.
    nothing: ir::Value,
}

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
        self.jump(head, &[]);
        self.enter(head);
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
        self.operators(at + 1, next)?;
        self.enter(next);
        self.release_scratch(scratch)?;
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
