//! Expressions: one file a family, one translator a kind. Every value is computed in the form its value
//! bounds allow (`breakers::lays::form`): 64 bits where they prove that it fits, 128 bits or checked
//! arithmetic elsewhere.

mod arithmetic;
mod case;
mod cast;
mod compare;
mod date;
mod hash;
mod logic;
mod math;
mod numeric;
mod string;

use crate::emitter::Hoisted;
use crate::objects::ObjectSpec;
use crate::sql_value::{SqlValue, clif_type};
use crate::translator::Translator;
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, types};
use frazil_plan::bounds::{self, Part};
use frazil_plan::column::native_within;
use frazil_plan::{ColumnId, Expr, ExprKind, ValueBounds};
use frazil_runtime::abi::ParameterCell;
use frazil_types::string_ref::INLINE_BYTES;
use frazil_types::{Error, LogicalType, NativeType, Result, StringRef, Value};
use std::collections::HashMap;
use std::mem::offset_of;

impl Translator<'_, '_> {
    /// The value of an expression. What fails in it fails at its place in the statement's text.
    pub fn expression(&mut self, e: &Expr) -> Result<SqlValue> {
        if !self.known.is_empty() || e.children().is_empty() {
            return self.placed(e, |t| t.expression_here(e));
        }
        // Bounds of all parts at once: part by part, each would walk over its own parts again.
        let mut known = HashMap::new();
        bounds::each_part(e, &self.unit.plan.columns, &mut |part, of_part| {
            if let Part::Expression(part) = part {
                known.insert(std::ptr::from_ref(part), of_part);
            }
        });
        self.known = known;
        let value = self.placed(e, |t| t.expression_here(e));
        self.known.clear();
        self.nullable.clear();
        value
    }

    /// What is known of an expression's value.
    pub fn known(&self, e: &Expr) -> ValueBounds {
        let columns = &self.unit.plan.columns;
        match self.known.get(&std::ptr::from_ref(e)).copied() {
            Some(ValueBounds::Proved(_)) if columns.proofs_forgotten() => ValueBounds::of_type(e.ty),
            Some(known) => known,
            None => bounds::of_expression(e, columns),
        }
    }

    /// Translates within an expression's place in the statement's text.
    pub fn placed<T>(&mut self, e: &Expr, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outer = self.span;
        if e.span.is_some() {
            self.span = e.span;
        }
        let made = body(self);
        self.span = outer;
        made
    }

    fn expression_here(&mut self, e: &Expr) -> Result<SqlValue> {
        use ExprKind::*;
        self.may_grow()?;
        match &e.kind {
            Column(id) => self.column(*id),
            Constant(value) => self.constant(value, e.ty, self.form(e)),
            Parameter(index) => self.parameter(*index, e.ty),
            ScalarSubquery(id) => {
                let index = self.unit.plan.parameters.len() + id.0;
                self.parameter(index, e.ty)
            }
            Let { column, value, body } => self.with(*column, value, |t| t.expression(body)),
            Subquery(_) => Err(Error::internal(format!("{:?} in a pipeline", e.kind))),
            Compare(op, l, r) => self.comparison(*op, l, r),
            Distinct { left, right, negated } => self.distinct(left, right, *negated),
            And(parts) => self.conjunction(e, parts),
            Or(parts) => self.disjunction(e, parts),
            Not(inner) => {
                let v = self.expression(inner)?;
                let value = self.not(v.value);
                Ok(SqlValue { value, ..v })
            }
            IsNull(inner) => {
                let v = self.expression(inner)?;
                let null = match v.valid {
                    Some(valid) => self.not(valid),
                    None => self.byte(false),
                };
                Ok(SqlValue::truth(null))
            }
            Arithmetic(op, l, r) => self.arithmetic(e, *op, l, r),
            Negate(inner) => self.negate(e, inner),
            Cast(inner) => self.cast(e, inner),
            Case { branches, otherwise } => self.case(e, branches, otherwise.as_deref()),
            Like {
                value,
                pattern,
                escape,
                negated,
            } => self.like(value, pattern, *escape, *negated),
            InList { value, list, negated } => self.in_list(value, list, *negated),
            Extract(part, inner) => self.extract(*part, inner),
            AddInterval(inner, interval) => self.add_interval(e, inner, *interval),
            Function(function, arguments) => self.scalar_function(e, *function, arguments),
            VectorFunction(function, arguments) => self.call_for_row(e, function, arguments),
        }
    }

    /// Translates what reads `column`, with the value it stands for, which is computed here and once.
    pub fn with<T>(
        &mut self,
        column: ColumnId,
        value: &Expr,
        body: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let value = self.expression(value)?;
        self.define(column, value);
        let made = body(self);
        self.scope.forget(column);
        made
    }

    /// The form in which an expression is computed.
    pub fn form(&self, e: &Expr) -> NativeType {
        native_within(e.ty, self.known(e))
    }

    /// A value in another integer form. Narrowing is right only where the value is known to fit.
    pub fn coerce(&mut self, v: SqlValue, native: NativeType) -> SqlValue {
        let (from, to) = (clif_type(v.native), clif_type(native));
        if v.native == native || !from.is_int() || !to.is_int() || from == to {
            return SqlValue { native, ..v };
        }
        let value = if from.bits() < to.bits() {
            self.b.ins().sextend(to, v.value)
        } else {
            self.b.ins().ireduce(to, v.value)
        };
        SqlValue { value, native, ..v }
    }

    /// Two integer-like values in the wider of their forms.
    pub fn unify(&mut self, a: SqlValue, b: SqlValue) -> (SqlValue, SqlValue) {
        let native = if a.native.size() >= b.native.size() {
            a.native
        } else {
            b.native
        };
        (self.coerce(a, native), self.coerce(b, native))
    }

    /// A constant.
    pub fn constant(&mut self, value: &Value, ty: LogicalType, native: NativeType) -> Result<SqlValue> {
        let value = match value {
            Value::Null => return Ok(self.null(native)),
            Value::Bool(b) => self.byte(*b),
            Value::Int(v) => self.int(native, *v),
            Value::Double(d) => self.b.ins().f64const(*d),
            Value::Interval(i) => self.int(NativeType::I128, i.to_native()),
            Value::Text(text) if ty.is_string() && native == NativeType::String => {
                self.string(text.as_bytes())
            }
            Value::Bytes(bytes) if ty.is_binary() => self.string(bytes),
            Value::Text(_) | Value::Bytes(_) => {
                return Err(Error::internal(format!("{value:?} as a constant of type {ty}")));
            }
        };
        Ok(SqlValue::certain(value, native))
    }

    /// A constant text.
    pub fn text(&mut self, text: &str) -> ir::Value {
        self.string(text.as_bytes())
    }

    /// A constant string: short ones are immediates, long ones objects of the plan.
    pub fn string(&mut self, bytes: &[u8]) -> ir::Value {
        let (head, tail) = if bytes.len() <= INLINE_BYTES {
            let inline = StringRef::inline(bytes);
            (self.word(inline.head), self.word(inline.tail))
        } else {
            let spec = ObjectSpec::String(bytes.into());
            (
                self.object_field(spec.clone(), offset_of!(StringRef, head)),
                self.object_field(spec, offset_of!(StringRef, tail)),
            )
        };
        self.b.ins().iconcat(head, tail)
    }

    fn parameter(&mut self, index: usize, ty: LogicalType) -> Result<SqlValue> {
        let at = |offset: usize| Hoisted::Parameter(index, offset as i32);
        let native = ty.native();
        let low = self.hoist(at(offset_of!(ParameterCell, value)));
        let valid = self.hoist(at(offset_of!(ParameterCell, valid)));
        let value = match clif_type(native) {
            types::I128 => {
                let high = self.hoist(at(offset_of!(ParameterCell, value) + 8));
                self.b.ins().iconcat(low, high)
            }
            types::F64 => self.b.ins().bitcast(types::F64, MemFlagsData::new(), low),
            types::I64 => low,
            narrow => self.b.ins().ireduce(narrow, low),
        };
        let valid = self.b.ins().ireduce(types::I8, valid);
        Ok(SqlValue {
            value,
            valid: Some(valid),
            native,
        })
    }

    /// Computes something that must not be computed for NULL: where `valid` is 0 the result is a zero
    /// of its type. `body` makes the value.
    pub fn where_valid(
        &mut self,
        valid: Option<ir::Value>,
        native: NativeType,
        body: impl FnOnce(&mut Self) -> Result<ir::Value>,
    ) -> Result<SqlValue> {
        let Some(valid) = valid else {
            let value = body(self)?;
            return Ok(SqlValue::certain(value, native));
        };
        let (yes, no) = (self.b.create_block(), self.b.create_block());
        let merge = self.block(&[clif_type(native)]);
        self.branch(valid, yes, no);
        self.enter(yes);
        let mark = self.scope.mark();
        let value = body(self)?;
        self.scope.back_to(mark);
        self.jump(merge, &[value]);
        self.enter(no);
        let zero = self.int(native, 0);
        self.jump(merge, &[zero]);
        let value = self.enter(merge)[0];
        Ok(SqlValue {
            value,
            valid: Some(valid),
            native,
        })
    }
}
