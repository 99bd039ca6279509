//! Pauses: a stage leaves in the middle of its loops, and goes on there when it is called again.
//!
//! The buffer of a result may say that it has enough rows for now ([`STATUS_PAUSED`]) when it is handed a vector. One
//! source row may have made that vector and may make a million more, so the stage cannot wait for the end of its loops.
//! A place in the stage memory keeps where the stage was:
//!
//! ```text
//! stage   is paused? │ row to begin with │ rows that the next stage was handed │ scratch position before the loops
//! chain   is set?    │ build row to go on with │ had the probe row a match? or how many?
//! rows    is set?    │ rows of functions that are left, their values
//! ```
//!
//! Code that goes on computes the row of each loop around the innermost one once more, because registers are gone:
//! filters, columns and residuals give what they gave before, as none of them calls a volatile function
//! ([`may_pause`](crate::may_pause)); volatile functions are calls for whole vectors, whose results are in memory. A
//! loop whose place is set takes the position from there instead of looking it up, and the innermost loop goes on
//! behind its position.
//!
//! A stage pauses only where it has handed on its output vector, so the vector is empty when it goes on. If the next
//! stage paused, that one is called again first, with the vector it had. A stage that ended with another status than a
//! pause is not called again: its place is stale.

use crate::failures::FailurePoint;
use crate::open_loops::{AT, Carried, NOT_SET, OpenLoop};
use crate::scratch_marks::ScratchMark;
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, Block, InstBuilder, types};
use frazil_plan::breakers::BreakerId;
use frazil_runtime::abi::STATUS_PAUSED;
use frazil_runtime::functions::Function;
use frazil_runtime::row_layout::NEXT_OFFSET;
use frazil_types::Result;

/// Offsets of the words of a stage's place.
const PAUSED: usize = 0;
const ROW: usize = 8;
const HANDED: usize = 16;
const MARK: usize = 24;
/// Bytes of a stage's place.
const STAGE_BYTES: usize = 32;

/// Offsets of the words of a chain's place.
const CHAIN_SET: usize = 0;
const CHAIN_ROW: usize = 8;
const CHAIN_CARRIED: usize = 16;
/// Bytes of a chain's place.
const CHAIN_BYTES: usize = 24;

impl Translator<'_, '_> {
    /// Gives a stage of a pipeline that may pause its place.
    pub fn place_stage(&mut self) {
        if self.work.pauses {
            self.work.place = Some(self.memory.room(STAGE_BYTES));
        }
    }

    /// Goes on in a block that runs only if the stage is not paused, and jumps to the second one if it is.
    pub fn unless_paused(&mut self) -> Option<Block> {
        let place = self.work.place?;
        let (fresh, on) = (self.b.create_block(), self.b.create_block());
        let paused = self.place_word(place + PAUSED);
        self.branch(paused, on, fresh);
        self.enter(fresh);
        Some(on)
    }

    /// The scratch's position before the loops: of a paused stage the one it had when it began.
    pub fn kept_mark(&mut self, mark: ScratchMark) -> ScratchMark {
        let (Some(position), Some(place)) = (mark, self.work.place) else {
            return mark;
        };
        let paused = self.place_word(place + PAUSED);
        let kept = self.place_word(place + MARK);
        let position = self.b.ins().select(paused, kept, position);
        self.keep_word(position, place + MARK);
        Some(position)
    }

    /// Lets the next stage go on if the stage is paused. Sets the row with which the loop over rows begins.
    pub fn resume(&mut self, mark: ScratchMark) -> Result<()> {
        let Some(place) = self.work.place else {
            return Ok(());
        };
        let (again, begin) = (self.b.create_block(), self.block(&[types::I64]));
        self.b.set_cold_block(again);
        let (paused, zero) = (self.place_word(place + PAUSED), self.word(0));
        let first: [ir::BlockArg; 1] = [zero.into()];
        self.b.ins().brif(paused, again, &[], begin, &first);
        self.enter(again);
        if let Some(next) = self.work.next {
            let (call, on) = (self.b.create_block(), self.b.create_block());
            let handed = self.place_word(place + HANDED);
            self.branch(handed, call, on);
            self.enter(call);
            let next = self.stage_in(next);
            let context = self.context;
            let call = self.b.ins().call(next, &[context, handed]);
            let status = self.b.inst_results(call)[0];
            self.pass_status(status);
            self.jump(on, &[]);
            self.enter(on);
        }
        let zero = self.word(NOT_SET);
        self.keep_word(zero, place + PAUSED);
        if let Some(mark) = mark {
            let context = self.context;
            self.call_checked(Function::ScratchRelease, &[context, mark], FailurePoint::CALL)?;
        }
        let row = self.place_word(place + ROW);
        self.jump(begin, &[row]);
        self.work.first_row = Some(self.enter(begin)[0]);
        Ok(())
    }

    /// Jumps to the `candidate` block of a probe with the build row in the chain's place, if the place is set. Goes on
    /// in a block for rows whose chain must be looked up. Returns the place, if the pipeline may pause. `carries`: the
    /// type of what the loop carries.
    pub fn resume_chain(&mut self, candidate: Block, carries: Option<ir::Type>) -> Option<usize> {
        self.work.place?;
        let place = self.memory.room(CHAIN_BYTES);
        let (again, look) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(again);
        let set = self.place_word(place + CHAIN_SET);
        self.branch(set, again, look);
        self.enter(again);
        let zero = self.word(NOT_SET);
        self.keep_word(zero, place + CHAIN_SET);
        let mut values = vec![self.place_word(place + CHAIN_ROW)];
        if let Some(ty) = carries {
            let carried = self.place_word(place + CHAIN_CARRIED);
            values.push(match ty {
                types::I64 => carried,
                ty => self.b.ins().ireduce(ty, carried),
            });
        }
        self.jump(candidate, &values);
        self.enter(look);
        Some(place)
    }

    /// Translates something in the body of a loop.
    pub fn within<T>(
        &mut self,
        open: Option<OpenLoop>,
        body: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let depth = self.work.loops.len();
        self.work.loops.extend(open);
        let result = body(self);
        self.work.loops.truncate(depth);
        result
    }

    /// Leaves with a status that is not 0. A pause keeps the place of the stage and of its loops before. `handed`: rows
    /// in the vector that the next stage has, if there is one.
    pub fn pass_status_or_pause(&mut self, status: ir::Value, handed: Option<ir::Value>) -> Result<()> {
        let Some(place) = self.work.place else {
            self.pass_status(status);
            return Ok(());
        };
        let (some, pause) = (self.b.create_block(), self.b.create_block());
        let (leave, on) = (self.b.create_block(), self.b.create_block());
        for block in [some, pause, leave] {
            self.b.set_cold_block(block);
        }
        self.branch(status, some, on);
        self.enter(some);
        let paused = (self.b.ins()).icmp_imm_s(IntCC::Equal, status, i64::from(STATUS_PAUSED));
        self.branch(paused, pause, leave);
        self.enter(pause);
        self.keep_place(place, handed);
        self.jump(leave, &[]);
        self.enter(leave);
        self.pass_status(status);
        // Never reached: the status is not 0.
        self.jump(on, &[]);
        self.enter(on);
        Ok(())
    }

    fn keep_place(&mut self, place: usize, handed: Option<ir::Value>) {
        let one = self.word(1);
        let handed = match handed {
            Some(rows) => rows,
            None => self.word(0),
        };
        self.keep_word(one, place + PAUSED);
        self.keep_word(handed, place + HANDED);
        let mut loops = self.work.loops.clone();
        let is_search = |open: &OpenLoop| matches!(open, OpenLoop::Search);
        let searches = loops.last().is_some_and(is_search);
        loops.retain(|open| !is_search(open));
        let count = loops.len();
        let row = match self.work.row {
            // Behind the loop over rows.
            None => self.rows,
            Some(row) if count > 0 || searches => row,
            Some(row) => self.b.ins().iadd_imm_s(row, 1),
        };
        self.keep_word(row, place + ROW);
        for (i, open) in loops.into_iter().enumerate() {
            let is_over = i + 1 == count && !searches;
            match open {
                OpenLoop::Chain {
                    place,
                    row,
                    carried,
                    array,
                } => {
                    let behind = match is_over {
                        true => self.row_behind(row, array),
                        false => row,
                    };
                    self.keep_chain(place, (row, behind), carried, is_over);
                }
                OpenLoop::Rows(rows) => self.keep_rows(&rows, is_over),
                OpenLoop::Search => {}
            }
        }
    }

    /// Keeps a position in a chain. `is_over`: the row in hand is through.
    fn keep_chain(
        &mut self,
        place: usize,
        (row, behind): (ir::Value, ir::Value),
        carried: Carried,
        is_over: bool,
    ) {
        let (set, zero) = (self.word(AT), self.word(0));
        self.keep_word(set, place + CHAIN_SET);
        let (next, carried) = match carried {
            Carried::Nothing => (behind, zero),
            Carried::Matched(matched) if is_over => (behind, self.b.ins().uextend(types::I64, matched)),
            Carried::Matched(_) => {
                // The row in hand is met again, as no row if there was no match before it.
                let no_row = self.no_row();
                let is_none = self.icmp(IntCC::Equal, row, no_row);
                (self.b.ins().select(is_none, zero, row), zero)
            }
            Carried::Count {
                behind: count, most, ..
            } if is_over => {
                let most = self.word(most);
                let is_last = self.icmp(IntCC::UnsignedGreaterThanOrEqual, count, most);
                (self.b.ins().select(is_last, zero, behind), count)
            }
            Carried::Count { before, .. } => (behind, before),
        };
        self.keep_word(next, place + CHAIN_ROW);
        self.keep_word(carried, place + CHAIN_CARRIED);
    }

    /// The row behind a row in its chain, or 0. The row of zeros that stands for no match has no row behind it.
    fn row_behind(&mut self, row: ir::Value, array: Option<BreakerId>) -> ir::Value {
        let Some(join) = array else {
            return self.load_word(row, NEXT_OFFSET);
        };
        let (chained, on) = (self.b.create_block(), self.block(&[types::I64]));
        self.b.set_cold_block(chained);
        let (is_array, zero) = (self.is_array(join), self.word(0));
        self.branch_with(is_array, (on, &[zero]), (chained, &[]));
        self.enter(chained);
        let behind = self.load_word(row, NEXT_OFFSET);
        self.jump(on, &[behind]);
        self.enter(on)[0]
    }

    /// A word of the stage memory.
    pub fn place_word(&mut self, at: usize) -> ir::Value {
        let memory = self.stage_memory();
        self.load_word(memory, at as i32)
    }

    /// Writes to the stage memory.
    pub fn keep_word(&mut self, value: ir::Value, at: usize) {
        let memory = self.stage_memory();
        self.store(value, memory, at as i32);
    }
}
