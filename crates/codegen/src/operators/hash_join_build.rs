//! The build side of a join: rows with their keys, payload and hash, in the worker's private pages.

use crate::breakers::join::JoinLayout;
use crate::objects::ObjectSpec;
use crate::sql_value::SqlValue;
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, Block, InstBuilder, types};
use frazil_plan::Expr;
use frazil_runtime::JoinBuild;
use frazil_runtime::functions::Function;
use frazil_runtime::row_layout::HASH_OFFSET;
use frazil_types::{NativeType, Result};
use std::mem::offset_of;

/// Keys of a join on one side, in the form in which they are compared.
pub(crate) struct JoinKeys {
    pub values: Vec<SqlValue>,
    /// Whether each is not NULL.
    pub valids: Vec<Option<ir::Value>>,
    /// Whether none is NULL.
    pub valid: Option<ir::Value>,
}

impl Translator<'_, '_> {
    /// Computes the keys of one side of a join.
    pub fn join_keys(&mut self, layout: &JoinLayout, keys: &[Expr]) -> Result<JoinKeys> {
        let mut values = Vec::with_capacity(keys.len());
        let mut valids = Vec::with_capacity(keys.len());
        let mut valid = None;
        for (key, &native) in keys.iter().zip(&layout.key_natives) {
            let value = self.expression(key)?;
            valid = self.both(valid, value.valid);
            valids.push(value.valid);
            let value = self.coerce(value, native);
            values.push(value.with_valid(None));
        }
        Ok(JoinKeys {
            values,
            valids,
            valid,
        })
    }

    /// The hash of a join's keys. NULL keys are never looked up, but have bytes of no meaning: those of
    /// strings must not be read.
    pub fn hash_keys(&mut self, keys: &JoinKeys) -> Result<ir::Value> {
        let strings = keys.values.iter().any(|v| v.native == NativeType::String);
        let valid = keys.valid.filter(|_| strings);
        let hash = self.where_valid(valid, NativeType::I64, |t| t.hash_values(&keys.values))?;
        Ok(hash.value)
    }

    /// Keeps the row for the join.
    pub fn join_build(&mut self, layout: &JoinLayout, keys: &[Expr], done: Block) -> Result<()> {
        let build = self.object(ObjectSpec::Part);
        let keys = self.join_keys(layout, keys)?;
        let linked = self
            .b
            .ins()
            .iadd_imm_s(build, offset_of!(JoinBuild, pages) as i64);
        let mut pages = linked;
        if let Some(valid) = keys.valid {
            pages = self.null_keys(build, linked, valid, layout.keeps_null_keys, done);
        }
        let heap = self.b.ins().iadd_imm_s(build, offset_of!(JoinBuild, heap) as i64);
        let row = self.take_row(pages, pages, Function::RowsGrow, layout.spec.layout.size)?;
        if layout.spec.stores_hash() {
            let hash = self.hash_keys(&keys)?;
            self.store(hash, row, HASH_OFFSET);
        }
        let fields = &layout.spec.layout.fields;
        for ((value, valid), field) in keys.values.iter().zip(&keys.valids).zip(fields) {
            let value = self.kept(value.with_valid(*valid), heap)?;
            self.set_field(row, *field, value);
        }
        for &(column, field) in &layout.payload {
            if field >= layout.spec.keys {
                let value = self.column(column)?;
                let value = self.coerce(value, fields[field].native);
                let value = self.kept(value, heap)?;
                self.set_field(row, fields[field], value);
            }
        }
        if layout.spec.has_integer_key() {
            self.widen_range(build, keys.values[0], keys.valid);
        }
        self.jump(done, &[]);
        Ok(())
    }

    /// Counts a NULL key. Rows with one are dropped, or kept where no probe finds them; the pages to use.
    fn null_keys(
        &mut self,
        build: ir::Value,
        linked: ir::Value,
        valid: ir::Value,
        keeps: bool,
        done: Block,
    ) -> ir::Value {
        let at = offset_of!(JoinBuild, null_keys) as i32;
        let (null, fine) = (self.b.create_block(), self.block(&[types::I64]));
        self.b.set_cold_block(null);
        let args: [ir::BlockArg; 1] = [linked.into()];
        self.b.ins().brif(valid, fine, &args, null, &[]);
        self.enter(null);
        let count = self.load_word(build, at);
        let count = self.b.ins().iadd_imm_s(count, 1);
        self.store(count, build, at);
        if keeps {
            let unlinked = self
                .b
                .ins()
                .iadd_imm_s(build, offset_of!(JoinBuild, unlinked) as i64);
            self.jump(fine, &[unlinked]);
        } else {
            self.jump(done, &[]);
        }
        self.enter(fine)[0]
    }

    /// Keeps smallest and largest key, for direct addressing.
    fn widen_range(&mut self, build: ir::Value, key: SqlValue, valid: Option<ir::Value>) {
        let key = self.coerce(key, NativeType::I64).value;
        let ends = [
            (offset_of!(JoinBuild, min_key), IntCC::SignedLessThan),
            (offset_of!(JoinBuild, max_key), IntCC::SignedGreaterThan),
        ];
        for (at, beyond) in ends {
            let old = self.load_word(build, at as i32);
            let mut wider = self.icmp(beyond, key, old);
            if let Some(valid) = valid {
                wider = self.b.ins().band(wider, valid);
            }
            let new = self.b.ins().select(wider, key, old);
            self.store(new, build, at as i32);
        }
    }
}
