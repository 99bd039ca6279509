//! A vector function: called once for each stage vector, before the loop over its rows. In the residual of a join,
//! which is evaluated for pairs of rows that no vector holds, it is called for one of them.

use crate::failures::FailurePoint;
use crate::objects::ObjectSpec;
use crate::scope::Place;
use crate::sql_value::{SqlValue, VectorWords};
use crate::stage_vector::StageVector;
use crate::translator::Translator;
use cranelift_codegen::ir::{self, InstBuilder};
use frazil_plan::pipeline::PipelineOperator;
use frazil_plan::vector_function::VectorFunctionRef;
use frazil_plan::{ColumnId, Expr};
use frazil_runtime::abi::VectorColumn;
use frazil_runtime::functions::Function;
use frazil_types::{Error, NativeType, Result};
use std::mem::offset_of;

impl Translator<'_, '_> {
    /// Calls the function that the first operator of the stage is, if it is one.
    pub fn call_vector_function(&mut self, vector: &StageVector) -> Result<()> {
        let pipeline = self.work.pipeline;
        let Some(PipelineOperator::Call(called)) = pipeline.operators.get(self.work.operators.start) else {
            return Ok(());
        };
        let plan = self.unit.plan;
        let types = (called.arguments.iter()).map(|&a| (plan.columns[a].ty, plan.columns[a].native()));
        let inputs: Vec<ColumnId> = called.arguments.iter().chain(&called.guard).copied().collect();
        let call = self.object(ObjectSpec::VectorCall {
            function: called.function.clone(),
            arguments: types.collect(),
            result: called.ty,
            guarded: called.guard.is_some(),
            made: Some(called.made),
        });
        let size = size_of::<VectorColumn>();
        // A stage that goes on after a pause has the result of the vector.
        let out = match self.work.place {
            Some(_) => {
                let at = self.memory.room(size);
                let memory = self.stage_memory();
                self.b.ins().iadd_imm_s(memory, at as i64)
            }
            None => self.stack_array(size),
        };
        let made = self.unless_paused();
        let columns = self.stack_array(size * inputs.len().max(1));
        let slots = vector.columns();
        for (i, argument) in inputs.iter().enumerate() {
            let slot = slots.get(argument);
            let slot = slot.ok_or_else(|| Error::internal("an argument that no stage vector holds"))?;
            let words = self.slot_words(slot.values, slot.validity);
            self.store_words(words, columns, i * size);
        }
        let (context, rows) = (self.context, self.rows);
        let args = [context, call, columns, rows, out];
        self.span = called.span;
        self.call_checked(Function::CallVectorFunction, &args, FailurePoint::CALL)?;
        if let Some(made) = made {
            self.jump(made, &[]);
            self.enter(made);
        }
        let words = VectorWords {
            values: self.load_word(out, offset_of!(VectorColumn, values) as i32),
            value_mask: Some(self.load_word(out, offset_of!(VectorColumn, value_mask) as i32)),
            validity: self.load_word(out, offset_of!(VectorColumn, validity) as i32),
            validity_mask: Some(self.load_word(out, offset_of!(VectorColumn, validity_mask) as i32)),
        };
        let place = Place::Vector {
            words,
            storage: called.ty.native(),
            native: plan.columns[called.made].native(),
        };
        self.scope.place(called.made, place);
        Ok(())
    }

    /// The value of a vector function for the row in hand. A string lives until the same place calls again.
    pub fn call_for_row(
        &mut self,
        e: &Expr,
        function: &VectorFunctionRef,
        arguments: &[Expr],
    ) -> Result<SqlValue> {
        let given: Vec<SqlValue> = arguments
            .iter()
            .map(|a| self.expression(a))
            .collect::<Result<_>>()?;
        let types = arguments.iter().zip(&given).map(|(a, v)| (a.ty, v.native));
        let call = self.own_object(ObjectSpec::VectorCall {
            function: function.clone(),
            arguments: types.collect(),
            result: e.ty,
            guarded: false,
            made: None,
        });
        let size = size_of::<VectorColumn>();
        let columns = self.stack_array(size * given.len().max(1));
        let first = self.word(0);
        for (i, argument) in given.iter().enumerate() {
            let valid = match argument.valid {
                Some(valid) => valid,
                None => self.byte(true),
            };
            let words = VectorWords {
                values: self.spill(argument.value),
                value_mask: Some(first),
                validity: self.spill(valid),
                validity_mask: Some(first),
            };
            self.store_words(words, columns, i * size);
        }
        let out = self.stack_array(size);
        let (context, one) = (self.context, self.word(1));
        let args = [context, call, columns, one, out];
        self.call_checked(Function::CallVectorFunction, &args, FailurePoint::CALL)?;
        let values = self.load_word(out, offset_of!(VectorColumn, values) as i32);
        let validity = self.load_word(out, offset_of!(VectorColumn, validity) as i32);
        let native = e.ty.native();
        let value = SqlValue {
            value: self.load(native, values, 0),
            valid: Some(self.load(NativeType::Bool, validity, 0)),
            native,
        };
        let form = self.form(e);
        Ok(self.coerce(value, form))
    }

    /// The columns of a vector in the stage memory.
    fn slot_words(&mut self, values: usize, validity: Option<usize>) -> VectorWords {
        let memory = self.stage_memory();
        let values = self.b.ins().iadd_imm_s(memory, values as i64);
        let (validity, validity_mask) = match validity {
            Some(at) => (self.b.ins().iadd_imm_s(memory, at as i64), None),
            None => {
                let at = self.memory.room(1);
                let one = self.byte(true);
                self.store(one, memory, at as i32);
                let none = self.word(0);
                (self.b.ins().iadd_imm_s(memory, at as i64), Some(none))
            }
        };
        VectorWords {
            values,
            value_mask: None,
            validity,
            validity_mask,
        }
    }

    fn store_words(&mut self, words: VectorWords, to: ir::Value, at: usize) {
        let all = self.word(u64::MAX);
        let at = |field: usize| (at + field) as i32;
        self.store(words.values, to, at(offset_of!(VectorColumn, values)));
        self.store(
            words.value_mask.unwrap_or(all),
            to,
            at(offset_of!(VectorColumn, value_mask)),
        );
        self.store(words.validity, to, at(offset_of!(VectorColumn, validity)));
        self.store(
            words.validity_mask.unwrap_or(all),
            to,
            at(offset_of!(VectorColumn, validity_mask)),
        );
    }
}
