//! Comparisons: of integers and decimals directly, of doubles as PostgreSQL orders them, of strings by
//! length and prefix first, by a call only where those do not decide.

use crate::objects::ObjectSpec;
use crate::sql_value::SqlValue;
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, InstBuilder, types};
use frazil_plan::{Expr, ExprKind};
use frazil_runtime::functions::Function;
use frazil_types::decimal::POWERS_OF_TEN;
use frazil_types::string_ref::INLINE_BYTES;
use frazil_types::{CompareOp, Error, NativeType, Result, Value};

/// Constants of an IN list that are compared one after the other; more are looked up in a set, so that code stays short.
const COMPARED_ONE_BY_ONE: usize = 16;

fn signed(op: CompareOp) -> IntCC {
    match op {
        CompareOp::Eq => IntCC::Equal,
        CompareOp::Ne => IntCC::NotEqual,
        CompareOp::Lt => IntCC::SignedLessThan,
        CompareOp::Le => IntCC::SignedLessThanOrEqual,
        CompareOp::Gt => IntCC::SignedGreaterThan,
        CompareOp::Ge => IntCC::SignedGreaterThanOrEqual,
    }
}

impl Translator<'_, '_> {
    /// A comparison.
    pub fn comparison(&mut self, op: CompareOp, l: &Expr, r: &Expr) -> Result<SqlValue> {
        let (a, b) = (self.expression(l)?, self.expression(r)?);
        let valid = self.both(a.valid, b.valid);
        // Strings that are NULL have no bytes to look at.
        if a.native == NativeType::String && !short_constant(l) && !short_constant(r) {
            return self.where_valid(valid, NativeType::Bool, |t| t.compare_values(op, a, b));
        }
        let value = match (op, a.native) {
            (CompareOp::Eq | CompareOp::Ne, NativeType::String) => {
                // A short string equals no long one: the references decide.
                self.icmp(signed(op), a.value, b.value)
            }
            (_, NativeType::String) => {
                return self.where_valid(valid, NativeType::Bool, |t| t.compare_values(op, a, b));
            }
            _ => self.compare_values(op, a, b)?,
        };
        Ok(SqlValue::truth(value).with_valid(valid))
    }

    /// Compares two values that are not NULL.
    pub fn compare_values(&mut self, op: CompareOp, a: SqlValue, b: SqlValue) -> Result<ir::Value> {
        match (a.native, op) {
            (NativeType::F64, _) => Ok(self.compare_doubles(op, a.value, b.value)),
            (NativeType::String, CompareOp::Eq) => self.equal_strings(a.value, b.value),
            (NativeType::String, CompareOp::Ne) => {
                let equal = self.equal_strings(a.value, b.value)?;
                Ok(self.not(equal))
            }
            (NativeType::String, _) => self.order_strings(op, a.value, b.value),
            _ => {
                let (a, b) = self.unify(a, b);
                Ok(self.icmp(signed(op), a.value, b.value))
            }
        }
    }

    /// Compares two exact numbers of different scales: the one of the lesser scale as a multiple at the other's.
    pub fn compare_scales(&mut self, op: CompareOp, sides: &[Expr]) -> Result<SqlValue> {
        let [l, r] = sides else {
            return Err(Error::internal("a comparison that has not two sides"));
        };
        let scale = |e: &Expr| e.ty.scale().unwrap_or(0);
        let (op, coarse, fine) = if scale(l) <= scale(r) {
            (op, l, r)
        } else {
            (op.flip(), r, l)
        };
        let (a, b) = (self.expression(coarse)?, self.expression(fine)?);
        let valid = self.both(a.valid, b.valid);
        let power = POWERS_OF_TEN[usize::from(scale(fine) - scale(coarse))];
        let multiples = self.known(coarse).range().and_then(|range| range.times(power));
        let truth = if let Some(multiples) = multiples {
            let native = if multiples.fits_i64() && a.native.size() <= 8 {
                NativeType::I64
            } else {
                NativeType::I128
            };
            let multiple = self.multiple(a, power, native);
            self.compare_values(op, multiple, b)?
        } else {
            let a = self.coerce(a, NativeType::I128);
            self.compare_multiple(op, a, power, b)
        };
        Ok(SqlValue::truth(truth).with_valid(valid))
    }

    fn multiple(&mut self, v: SqlValue, power: i128, native: NativeType) -> SqlValue {
        let wide = self.coerce(v, native);
        let power = self.int(native, power);
        let value = self.b.ins().imul(wide.value, power);
        SqlValue { value, ..wide }
    }

    /// Compares the multiple of a value of 128 bits. Where 128 bits do not hold the multiple, it is beyond every value on its side
    /// of 0.
    fn compare_multiple(&mut self, op: CompareOp, a: SqlValue, power: i128, b: SqlValue) -> ir::Value {
        let merge = self.block(&[types::I8]);
        let (held, beyond) = (self.b.create_block(), self.b.create_block());
        // From -limit to limit, moved to 0 and above: a decimal is far from the ends of 128 bits.
        let limit = i128::MAX / power;
        let (shift, most) = (self.int(a.native, limit), self.int(a.native, 2 * limit));
        let moved = self.b.ins().iadd(a.value, shift);
        let within = self.icmp(IntCC::UnsignedLessThanOrEqual, moved, most);
        self.branch(within, held, beyond);
        self.enter(held);
        let multiple = self.multiple(a, power, NativeType::I128);
        let b = self.coerce(b, NativeType::I128);
        let truth = self.icmp(signed(op), multiple.value, b.value);
        self.jump(merge, &[truth]);
        self.enter(beyond);
        let zero = self.int(a.native, 0);
        let truth = self.icmp(signed(op), a.value, zero);
        self.jump(merge, &[truth]);
        self.enter(merge)[0]
    }

    fn compare_doubles(&mut self, op: CompareOp, a: ir::Value, b: ir::Value) -> ir::Value {
        match op {
            CompareOp::Eq => {
                let equal = self.b.ins().fcmp(FloatCC::Equal, a, b);
                let a_nan = self.b.ins().fcmp(FloatCC::Unordered, a, a);
                let b_nan = self.b.ins().fcmp(FloatCC::Unordered, b, b);
                let both = self.b.ins().band(a_nan, b_nan);
                self.b.ins().bor(equal, both)
            }
            CompareOp::Lt => {
                let less = self.b.ins().fcmp(FloatCC::LessThan, a, b);
                let a_number = self.b.ins().fcmp(FloatCC::Ordered, a, a);
                let b_nan = self.b.ins().fcmp(FloatCC::Unordered, b, b);
                let below_nan = self.b.ins().band(a_number, b_nan);
                self.b.ins().bor(less, below_nan)
            }
            CompareOp::Gt => self.compare_doubles(CompareOp::Lt, b, a),
            CompareOp::Ne | CompareOp::Ge | CompareOp::Le => {
                let other = self.compare_doubles(op.negate(), a, b);
                self.not(other)
            }
        }
    }

    fn equal_strings(&mut self, a: ir::Value, b: ir::Value) -> Result<ir::Value> {
        let ((a_head, a_tail), (b_head, b_tail)) = (self.b.ins().isplit(a), self.b.ins().isplit(b));
        let merge = self.block(&[types::I8]);
        let (tails, long, call) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let heads = self.icmp(IntCC::Equal, a_head, b_head);
        let args: [ir::BlockArg; 1] = [heads.into()];
        self.b.ins().brif(heads, tails, &[], merge, &args);
        self.enter(tails);
        let same = self.icmp(IntCC::Equal, a_tail, b_tail);
        let args: [ir::BlockArg; 1] = [same.into()];
        self.b.ins().brif(same, merge, &args, long, &[]);
        self.enter(long);
        let is_long = self.is_long(a_head);
        let args: [ir::BlockArg; 1] = [is_long.into()];
        self.b.ins().brif(is_long, call, &[], merge, &args);
        self.enter(call);
        let equal = self.call_value(Function::StringEqual, &[a_head, a_tail, b_head, b_tail])?;
        let equal = self.b.ins().ireduce(types::I8, equal);
        self.jump(merge, &[equal]);
        Ok(self.enter(merge)[0])
    }

    /// Whether a string's bytes lie outside its reference, from the reference's head.
    pub fn is_long(&mut self, head: ir::Value) -> ir::Value {
        let length = self.b.ins().ireduce(types::I32, head);
        self.b
            .ins()
            .icmp_imm_u(IntCC::UnsignedGreaterThan, length, INLINE_BYTES as i64)
    }

    fn order_strings(&mut self, op: CompareOp, a: ir::Value, b: ir::Value) -> Result<ir::Value> {
        let merge = self.block(&[types::I8]);
        let (decided, call) = (self.b.create_block(), self.b.create_block());
        let (x, y) = (self.prefix(a), self.prefix(b));
        let differ = self.icmp(IntCC::NotEqual, x, y);
        self.branch(differ, decided, call);
        self.enter(decided);
        let result = self.icmp(signed(op).unsigned(), x, y);
        self.jump(merge, &[result]);
        self.enter(call);
        let ((a_head, a_tail), (b_head, b_tail)) = (self.b.ins().isplit(a), self.b.ins().isplit(b));
        let order = self.call_value(Function::StringCompare, &[a_head, a_tail, b_head, b_tail])?;
        let result = self.b.ins().icmp_imm_s(signed(op), order, 0);
        self.jump(merge, &[result]);
        Ok(self.enter(merge)[0])
    }

    /// The first four bytes as a number of their order.
    fn prefix(&mut self, string: ir::Value) -> ir::Value {
        let (head, _) = self.b.ins().isplit(string);
        let prefix = self.b.ins().ushr_imm_u(head, 32);
        let prefix = self.b.ins().ireduce(types::I32, prefix);
        self.b.ins().bswap(prefix)
    }

    /// IS [NOT] DISTINCT FROM.
    pub fn distinct(&mut self, left: &Expr, right: &Expr, negated: bool) -> Result<SqlValue> {
        let (a, b) = (self.expression(left)?, self.expression(right)?);
        let same = self.same_values(a, b)?;
        let value = if negated { same } else { self.not(same) };
        Ok(SqlValue::truth(value))
    }

    /// Whether two values are equal, NULL equal to NULL.
    pub fn same_values(&mut self, a: SqlValue, b: SqlValue) -> Result<ir::Value> {
        let both = self.both(a.valid, b.valid);
        let Some(both) = both else {
            return self.compare_values(CompareOp::Eq, a, b);
        };
        let equal = self.where_valid(Some(both), NativeType::Bool, |t| {
            t.compare_values(CompareOp::Eq, a, b)
        })?;
        let equal = self.b.ins().band(equal.value, both);
        let neither = match (a.valid, b.valid) {
            (Some(a), Some(b)) => {
                let any = self.b.ins().bor(a, b);
                self.not(any)
            }
            _ => return Ok(equal),
        };
        Ok(self.b.ins().bor(equal, neither))
    }

    /// IN a list of constants.
    pub fn in_list(&mut self, value: &Expr, list: &[Value], negated: bool) -> Result<SqlValue> {
        let v = self.expression(value)?;
        let mut found = if v.native == NativeType::String {
            self.where_valid(v.valid, NativeType::Bool, |t| t.in_texts(v.value, list))?
        } else {
            let value = self.in_numbers(v, value, list)?;
            SqlValue::truth(value).with_valid(v.valid)
        };
        if negated {
            found.value = self.not(found.value);
        }
        Ok(found)
    }

    fn in_numbers(&mut self, v: SqlValue, e: &Expr, list: &[Value]) -> Result<ir::Value> {
        // What the value's form cannot hold equals no value.
        let v_bytes = v.native.size();
        let held = |v: i128| v == v << (128 - 8 * v_bytes) >> (128 - 8 * v_bytes);
        let ints: Vec<i128> = list.iter().filter_map(Value::as_int).collect();
        let (min, max) = (ints.iter().min().copied(), ints.iter().max().copied());
        if let (Some(min), Some(max), true) = (min, max, ints.len() == list.len() && ints.len() > 3)
            && max.checked_sub(min).is_some_and(|width| width < 64)
            && held(min)
            && held(max)
            && v.native.is_integer()
        {
            // A set of bits.
            let mask = ints.iter().fold(0u64, |m, i| m | 1 << (i - min));
            let wide = self.coerce(
                v,
                if v.native == NativeType::I128 {
                    NativeType::I128
                } else {
                    NativeType::I64
                },
            );
            let least = self.int(wide.native, min);
            let distance = self.b.ins().isub(wide.value, least);
            let within = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, distance, 64);
            let distance = self.coerce(SqlValue::certain(distance, wide.native), NativeType::I64);
            let mask = self.word(mask);
            let bit = self.b.ins().ushr(mask, distance.value);
            let bit = self.b.ins().ireduce(types::I8, bit);
            let bit = self.b.ins().band_imm_s(bit, 1);
            return Ok(self.b.ins().band(bit, within));
        }
        let held: Vec<&Value> = list
            .iter()
            .filter(|value| !(v.native.is_integer() && value.as_int().is_some_and(|int| !held(int))))
            .collect();
        if held.len() > COMPARED_ONE_BY_ONE {
            return self.in_set(v, list);
        }
        let mut found = self.byte(false);
        for value in held {
            let constant = self.constant(value, e.ty, v.native)?;
            let equal = self.compare_values(CompareOp::Eq, v, constant)?;
            found = self.b.ins().bor(found, equal);
        }
        Ok(found)
    }

    /// Looks a number up in the set of a list's constants.
    fn in_set(&mut self, v: SqlValue, list: &[Value]) -> Result<ir::Value> {
        let set = self.object(ObjectSpec::Values(list.to_vec()));
        let (function, value) = match v.native {
            NativeType::F64 => (Function::InDoubles, v.value),
            NativeType::I128 => (Function::InDecimals, self.spill(v.value)),
            _ => (Function::InIntegers, self.coerce(v, NativeType::I64).value),
        };
        let found = self.call_value(function, &[set, value])?;
        Ok(self.b.ins().ireduce(types::I8, found))
    }

    fn in_texts(&mut self, v: ir::Value, list: &[Value]) -> Result<ir::Value> {
        let strings: Vec<&[u8]> = list.iter().filter_map(Value::as_bytes).collect();
        if strings.iter().all(|bytes| bytes.len() <= INLINE_BYTES) && strings.len() <= COMPARED_ONE_BY_ONE {
            let mut found = self.byte(false);
            for bytes in strings {
                let constant = self.string(bytes);
                let equal = self.icmp(IntCC::Equal, v, constant);
                found = self.b.ins().bor(found, equal);
            }
            return Ok(found);
        }
        let set = self.object(ObjectSpec::Values(list.to_vec()));
        let place = self.spill(v);
        let found = self.call_value(Function::InStrings, &[set, place])?;
        Ok(self.b.ins().ireduce(types::I8, found))
    }
}

/// Whether it is a string that fits in its reference.
fn short_constant(e: &Expr) -> bool {
    let ExprKind::Constant(value) = &e.kind else {
        return false;
    };
    value.as_bytes().is_some_and(|bytes| bytes.len() <= INLINE_BYTES)
}
