//! Rows in memory: taking a fresh one, and keeping strings that live only for the vector in hand.

use crate::failures::FailurePoint;
use crate::sql_value::SqlValue;
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use frazil_runtime::functions::Function;
use frazil_runtime::row_pages::RowCursor;
use frazil_types::{NativeType, Result};
use std::mem::offset_of;

impl Translator<'_, '_> {
    /// A fresh row, zeroed: the cursor at `pages` is bumped inline, `grow` called with `owner` where the
    /// page is full.
    pub fn take_row(
        &mut self,
        pages: ir::Value,
        owner: ir::Value,
        grow: Function,
        size: usize,
    ) -> Result<ir::Value> {
        let (next, end) = (
            offset_of!(RowCursor, next) as i32,
            offset_of!(RowCursor, end) as i32,
        );
        let row = self.load_word(pages, next);
        let limit = self.load_word(pages, end);
        let following = self.b.ins().iadd_imm_s(row, size as i64);
        let full = self.icmp(IntCC::UnsignedGreaterThan, following, limit);
        let (cold, fast) = (self.b.create_block(), self.b.create_block());
        let merge = self.block(&[types::I64]);
        self.b.set_cold_block(cold);
        self.branch(full, cold, fast);
        self.enter(cold);
        let context = self.context;
        let grown = self.call_row(grow, &[context, owner])?;
        self.jump(merge, &[grown]);
        self.enter(fast);
        self.store(following, pages, next);
        self.jump(merge, &[row]);
        Ok(self.enter(merge)[0])
    }

    /// Calls a function that returns a row, or null where it failed.
    pub fn call_row(&mut self, function: Function, arguments: &[ir::Value]) -> Result<ir::Value> {
        let row = self.call_value(function, arguments)?;
        let failed = self.b.ins().icmp_imm_s(IntCC::Equal, row, 0);
        self.fail_if(failed, FailurePoint::CALL);
        Ok(row)
    }

    /// A value fit to be kept: a transient string is copied into `heap`.
    pub fn kept(&mut self, v: SqlValue, heap: ir::Value) -> Result<SqlValue> {
        if v.native != NativeType::String {
            return Ok(v);
        }
        let (head, tail) = self.b.ins().isplit(v.value);
        let marked = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, tail, 0);
        let long = self.is_long(head);
        let mut transient = self.b.ins().band(marked, long);
        if let Some(valid) = v.valid {
            transient = self.b.ins().band(transient, valid);
        }
        let copy = self.b.create_block();
        self.b.set_cold_block(copy);
        let merge = self.block(&[types::I128]);
        let args: [ir::BlockArg; 1] = [v.value.into()];
        self.b.ins().brif(transient, copy, &[], merge, &args);
        self.enter(copy);
        let place = self.spill(v.value);
        let context = self.context;
        let args = [context, heap, place];
        let kept = self.call_out_checked(
            Function::StringKeep,
            &args,
            NativeType::String,
            FailurePoint::CALL,
        )?;
        self.jump(merge, &[kept]);
        let value = self.enter(merge)[0];
        Ok(SqlValue { value, ..v })
    }
}
