//! Hashes of keys: the definition of `kernels::hash`, inline.

use crate::sql_value::SqlValue;
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, types};
use frazil_kernels::hash::{CANONICAL_NAN, MULTIPLIER, NULL_WORD, ROTATION, SEED, hash_u64};
use frazil_runtime::functions::Function;
use frazil_types::{NativeType, Result};

impl Translator<'_, '_> {
    /// The hash of a key of several values.
    pub fn hash_values(&mut self, values: &[SqlValue]) -> Result<ir::Value> {
        let mut hash = None;
        for v in values {
            hash = Some(self.fold_hash(hash, *v)?);
        }
        Ok(match hash {
            Some(hash) => hash,
            None => self.word(hash_u64(0)),
        })
    }

    /// `combine(hash, word)`; none: a hash of 0.
    fn combine(&mut self, hash: Option<ir::Value>, word: ir::Value) -> ir::Value {
        let mixed = match hash {
            Some(hash) => {
                let rotated = self.b.ins().rotl_imm_u(hash, i64::from(ROTATION));
                self.b.ins().bxor(rotated, word)
            }
            None => word,
        };
        let seeded = self.b.ins().bxor_imm_s(mixed, SEED as i64);
        let product = self.b.ins().imul_imm_s(seeded, MULTIPLIER as i64);
        let upper = self.b.ins().ushr_imm_u(product, 32);
        self.b.ins().bxor(product, upper)
    }

    fn fold_hash(&mut self, hash: Option<ir::Value>, v: SqlValue) -> Result<ir::Value> {
        let single = match v.native {
            NativeType::Bool => Some(self.b.ins().uextend(types::I64, v.value)),
            NativeType::I16 | NativeType::I32 => Some(self.b.ins().sextend(types::I64, v.value)),
            NativeType::I64 => Some(v.value),
            NativeType::F64 => Some(self.double_word(v.value)),
            NativeType::I128 | NativeType::String => None,
        };
        if let Some(mut word) = single {
            if let Some(valid) = v.valid {
                let null = self.word(NULL_WORD);
                word = self.b.ins().select(valid, word, null);
            }
            return Ok(self.combine(hash, word));
        }
        let Some(valid) = v.valid else {
            return self.fold_wide(hash, v);
        };
        let (yes, no) = (self.b.create_block(), self.b.create_block());
        let merge = self.block(&[types::I64]);
        self.branch(valid, yes, no);
        self.enter(yes);
        let folded = self.fold_wide(hash, v)?;
        self.jump(merge, &[folded]);
        self.enter(no);
        let null = self.word(NULL_WORD);
        let folded = self.combine(hash, null);
        self.jump(merge, &[folded]);
        Ok(self.enter(merge)[0])
    }

    fn fold_wide(&mut self, hash: Option<ir::Value>, v: SqlValue) -> Result<ir::Value> {
        let (low, high) = self.b.ins().isplit(v.value);
        if v.native == NativeType::I128 {
            let hash = self.combine(hash, low);
            return Ok(self.combine(Some(hash), high));
        }
        let (short, long) = (self.b.create_block(), self.b.create_block());
        let merge = self.block(&[types::I64]);
        let is_long = self.is_long(low);
        self.branch(is_long, long, short);
        self.enter(short);
        let folded = self.combine(hash, low);
        let folded = self.combine(Some(folded), high);
        self.jump(merge, &[folded]);
        self.enter(long);
        let before = match hash {
            Some(hash) => hash,
            None => self.word(0),
        };
        let folded = self.call_value(Function::StringHash, &[before, low, high])?;
        self.jump(merge, &[folded]);
        Ok(self.enter(merge)[0])
    }

    fn double_word(&mut self, v: ir::Value) -> ir::Value {
        let zero = self.b.ins().f64const(0.0);
        let normal = self.b.ins().fadd(v, zero);
        let bits = self.b.ins().bitcast(types::I64, MemFlagsData::new(), normal);
        let nan = self.b.ins().fcmp(FloatCC::Unordered, v, v);
        let canonical = self.word(CANONICAL_NAN);
        self.b.ins().select(nan, canonical, bits)
    }
}
