//! Rows given several times: the rest of the stage is the body of a loop that counts down.

use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, types};
use frazil_plan::ColumnId;
use frazil_types::Result;

impl Translator<'_, '_> {
    /// Passes the row on as often as `count` says, then goes to `done`. A count may be as high as a table has rows: the
    /// loop hears of a cancel, and releases the strings it makes.
    pub fn repeat(&mut self, count: ColumnId, at: usize, done: Block) -> Result<()> {
        let times = self.column(count)?;
        if let Some(valid) = times.valid {
            let known = self.b.create_block();
            self.branch(valid, known, done);
            self.enter(known);
        }
        let (head, body) = (self.block(&[types::I64]), self.b.create_block());
        let next = self.b.create_block();
        let scratch = self.scratch_mark(at + 1);
        self.jump(head, &[times.value]);
        let left = self.enter(head)[0];
        let some = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, left, 0);
        self.branch(some, body, done);
        self.enter(body);
        self.operators(at + 1, next)?;
        self.enter(next);
        self.release_scratch(scratch)?;
        self.poll_cancel();
        let fewer = self.b.ins().iadd_imm_s(left, -1);
        self.jump(head, &[fewer]);
        Ok(())
    }
}
