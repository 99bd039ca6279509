//! The function in the making, as the translators of operators and expressions write it: short forms for constants,
//! memory, control, calls and failures. It knows no plan.

use crate::failures::{FailurePoint, Failures};
use crate::jit::Jit;
use crate::objects::{ObjectSpec, Objects};
use crate::sql_value::{SqlValue, clif_type};
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    self, Block, BlockArg, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, types,
};
use cranelift_frontend::{FunctionBuilder, Variable};
use cranelift_module::FuncId;
use frazil_runtime::abi::{ErrorSlot, PipelineContext};
use frazil_runtime::abi::{STATUS_CANCELED, STATUS_FAILED};
use frazil_runtime::functions::Function;
use frazil_types::{Error, NativeType, Result, Span};
use std::collections::HashMap;
use std::mem::offset_of;

/// What the functions of a plan have in common while they are made.
pub(crate) struct Module {
    pub jit: Jit,
    pub failures: Failures,
}

/// Values that are kept through the row loop at most, but for those that others are found by. Beyond that there are no
/// registers for them, so that they would be loaded from the stack at each use, and finding that out is what allocating
/// registers takes longest for.
const MAX_HOISTED: usize = 12;

/// A value computed once, before the row loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Hoisted {
    /// A pointer of the context, by offset.
    Context(i32),
    /// An object's pointer.
    Object(usize),
    /// A field behind a pointer hoisted before: object, offset.
    ObjectField(usize, i32),
    /// A word of a source column: column, offset.
    SourceWord(usize, i32),
    /// A word of a parameter: index, offset.
    Parameter(usize, i32),
}

/// A function in the making.
pub(crate) struct Emitter<'a> {
    pub b: FunctionBuilder<'a>,
    module: &'a mut Module,
    objects: &'a mut Objects,
    /// The context pointer.
    pub context: ir::Value,
    /// Number of rows of the vector in hand.
    pub rows: ir::Value,
    /// Where the expression in hand stands in the statement's text.
    pub span: Span,
    entry: Block,
    hoisted: HashMap<Hoisted, ir::Value>,
    calls: HashMap<Function, ir::FuncRef>,
    exits: Exits,
}

/// Cold blocks that leave the function: they are filled when it ends, since a block that is being filled is not left before
/// it has its jump.
#[derive(Default)]
struct Exits {
    /// Those that note a point, by the point.
    failures: HashMap<usize, Block>,
    /// The points, in the order in which they came.
    points: Vec<usize>,
    /// The one that returns a status.
    returns: Option<Block>,
    /// The block to which failures lead while an expression is tried.
    caught_by: Option<Block>,
    /// True if a failure leads there.
    is_caught: bool,
}

impl<'a> Emitter<'a> {
    /// Begins a function `(context, rows) -> status`; the current block is its entry.
    pub fn new(mut b: FunctionBuilder<'a>, module: &'a mut Module, objects: &'a mut Objects) -> Emitter<'a> {
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let (context, rows) = (b.block_params(entry)[0], b.block_params(entry)[1]);
        Emitter {
            b,
            module,
            objects,
            context,
            rows,
            span: Span::NONE,
            entry,
            hoisted: HashMap::new(),
            calls: HashMap::new(),
            exits: Exits::default(),
        }
    }

    /// Ends the function.
    pub fn finish(mut self) {
        self.fill_exits();
        self.b.seal_all_blocks();
        let config = self.module.jit.frontend_config();
        self.b.finalize(config);
    }

    /// Whether the function may have more instructions. Errors 54001, 57014.
    pub fn may_grow(&self) -> Result<()> {
        self.module.jit.may_grow(self.b.func)
    }

    /// Another stage, to be called from here.
    pub fn stage_in(&mut self, stage: FuncId) -> ir::FuncRef {
        self.module.jit.stage_in(stage, self.b.func)
    }

    // ---- constants ----

    /// An integer constant of a native type.
    pub fn int(&mut self, native: NativeType, value: i128) -> ir::Value {
        match clif_type(native) {
            types::I128 => {
                let low = self.b.ins().iconst(types::I64, value as i64);
                let high = self.b.ins().iconst(types::I64, (value >> 64) as i64);
                self.b.ins().iconcat(low, high)
            }
            types::F64 => self.b.ins().f64const(value as f64),
            ty => {
                // iconst wants the bits of narrow types zero-extended.
                let mask = if ty.bits() == 64 {
                    !0
                } else {
                    (1u64 << ty.bits()) - 1
                };
                self.b.ins().iconst(ty, (value as u64 & mask) as i64)
            }
        }
    }

    /// A 64-bit constant.
    pub fn word(&mut self, value: u64) -> ir::Value {
        self.b.ins().iconst(types::I64, value as i64)
    }

    /// An `i8` constant.
    pub fn byte(&mut self, value: bool) -> ir::Value {
        self.b.ins().iconst(types::I8, i64::from(value))
    }

    /// A 32-bit constant.
    pub fn small(&mut self, value: u32) -> ir::Value {
        self.b.ins().iconst(types::I32, i64::from(value))
    }

    /// NULL, held as `native`.
    pub fn null(&mut self, native: NativeType) -> SqlValue {
        let value = self.int(native, 0);
        let valid = Some(self.byte(false));
        SqlValue { value, valid, native }
    }

    // ---- validity ----

    /// Valid where both are.
    pub fn both(&mut self, a: Option<ir::Value>, b: Option<ir::Value>) -> Option<ir::Value> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.b.ins().band(a, b)),
            (a, b) => a.or(b),
        }
    }

    /// Logical not of an `i8` that is 0 or 1.
    pub fn not(&mut self, value: ir::Value) -> ir::Value {
        if let Some(ir::InstructionData::Binary { opcode, args }) = self.made_by(value)
            && opcode == ir::Opcode::Bxor
            && let Some(ir::InstructionData::UnaryImm { imm, .. }) = self.made_by(args[1])
            && imm.bits() == 1
        {
            return args[0];
        }
        self.b.ins().bxor_imm_s(value, 1)
    }

    /// The instruction that a value is the result of.
    fn made_by(&self, value: ir::Value) -> Option<ir::InstructionData> {
        let dfg = &self.b.func.dfg;
        let inst = dfg.value_def(value).inst()?;
        Some(dfg.insts[inst])
    }

    // ---- memory ----

    /// Loads a value.
    pub fn load(&mut self, native: NativeType, pointer: ir::Value, offset: i32) -> ir::Value {
        self.b
            .ins()
            .load(clif_type(native), MemFlagsData::trusted(), pointer, offset)
    }

    /// Loads a word.
    pub fn load_word(&mut self, pointer: ir::Value, offset: i32) -> ir::Value {
        self.b
            .ins()
            .load(types::I64, MemFlagsData::trusted(), pointer, offset)
    }

    /// Stores a value.
    pub fn store(&mut self, value: ir::Value, pointer: ir::Value, offset: i32) {
        self.b
            .ins()
            .store(MemFlagsData::trusted(), value, pointer, offset);
    }

    /// The address of element `index` of an array.
    pub fn element(&mut self, base: ir::Value, index: ir::Value, size: usize) -> ir::Value {
        let distance = match size {
            1 => index,
            _ if size.is_power_of_two() => self.b.ins().ishl_imm_u(index, i64::from(size.trailing_zeros())),
            _ => self.b.ins().imul_imm_s(index, size as i64),
        };
        self.b.ins().iadd(base, distance)
    }

    /// A place on the stack for 16 bytes; its address.
    pub fn stack_place(&mut self) -> ir::Value {
        self.stack_array(16)
    }

    /// A place on the stack; its address.
    pub fn stack_array(&mut self, bytes: usize) -> ir::Value {
        let slot = self.stack_slot(bytes);
        self.b.ins().stack_addr(types::I64, slot, 0)
    }

    /// A place on the stack.
    pub fn stack_slot(&mut self, bytes: usize) -> StackSlot {
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes as u32, 4);
        self.b.create_sized_stack_slot(data)
    }

    /// A value put on the stack; its address.
    pub fn spill(&mut self, value: ir::Value) -> ir::Value {
        let place = self.stack_place();
        self.store(value, place, 0);
        place
    }

    // ---- values computed before the loop ----

    /// A value computed once, in front of the row loop, at its first use.
    pub fn hoist(&mut self, what: Hoisted) -> ir::Value {
        if let Some(&value) = self.hoisted.get(&what) {
            return value;
        }
        let (pointer, offset) = self.place_of(what);
        let value = self.load_in_entry(pointer, offset);
        self.hoisted.insert(what, value);
        value
    }

    /// A value for the block in hand alone: hoisted, unless [`MAX_HOISTED`] are.
    pub fn hoist_if_few(&mut self, what: Hoisted) -> ir::Value {
        if self.hoisted.len() < MAX_HOISTED || self.hoisted.contains_key(&what) {
            return self.hoist(what);
        }
        let (pointer, offset) = self.place_of(what);
        self.load_word(pointer, offset)
    }

    /// Where it is: a hoisted pointer, and how far behind.
    fn place_of(&mut self, what: Hoisted) -> (ir::Value, i32) {
        match what {
            Hoisted::Context(offset) => (self.context, offset),
            Hoisted::Object(index) => {
                let objects = self.hoist(Hoisted::Context(offset_of!(PipelineContext, objects) as i32));
                (objects, index as i32 * 8)
            }
            Hoisted::ObjectField(index, offset) => (self.hoist(Hoisted::Object(index)), offset),
            Hoisted::SourceWord(column, offset) => {
                let source = self.hoist(Hoisted::Context(offset_of!(PipelineContext, source) as i32));
                let size = size_of::<frazil_runtime::abi::VectorColumn>();
                (source, (column * size) as i32 + offset)
            }
            Hoisted::Parameter(index, offset) => {
                let cells = self.hoist(Hoisted::Context(offset_of!(PipelineContext, parameters) as i32));
                let size = size_of::<frazil_runtime::abi::ParameterCell>();
                (cells, (index * size) as i32 + offset)
            }
        }
    }

    fn load_in_entry(&mut self, pointer: ir::Value, offset: i32) -> ir::Value {
        if self.b.current_block() == Some(self.entry) {
            return self.load_word(pointer, offset);
        }
        let mut cursor = FuncCursor::new(self.b.func).at_last_inst(self.entry);
        cursor
            .ins()
            .load(types::I64, MemFlagsData::trusted(), pointer, offset)
    }

    /// The pointer of an object the pipeline uses.
    pub fn object(&mut self, spec: ObjectSpec) -> ir::Value {
        let index = self.objects.index(spec);
        self.hoist(Hoisted::Object(index))
    }

    /// An object that nothing else of the pipeline uses.
    pub fn own_object(&mut self, spec: ObjectSpec) -> ir::Value {
        let index = self.objects.add(spec);
        self.hoist(Hoisted::Object(index))
    }

    /// A word of an object that does not change while the pipeline runs, for the block in hand.
    pub fn object_field(&mut self, spec: ObjectSpec, offset: usize) -> ir::Value {
        let index = self.objects.index(spec);
        self.hoist_if_few(Hoisted::ObjectField(index, offset as i32))
    }

    /// The stage memory.
    pub fn stage_memory(&mut self) -> ir::Value {
        self.hoist(Hoisted::Context(offset_of!(PipelineContext, stage_memory) as i32))
    }

    // ---- control ----

    /// Jumps, with values for the target's parameters.
    pub fn jump(&mut self, to: Block, values: &[ir::Value]) {
        self.b.ins().jump(to, &block_args(values));
    }

    /// Branches, no values.
    pub fn branch(&mut self, condition: ir::Value, yes: Block, no: Block) {
        self.b.ins().brif(condition, yes, &[], no, &[]);
    }

    /// Branches with values for the parameters of the blocks.
    pub fn branch_with(
        &mut self,
        condition: ir::Value,
        (yes, for_yes): (Block, &[ir::Value]),
        (no, for_no): (Block, &[ir::Value]),
    ) {
        let (for_yes, for_no) = (block_args(for_yes), block_args(for_no));
        self.b.ins().brif(condition, yes, &for_yes, no, &for_no);
    }

    /// A new block with parameters of these types.
    pub fn block(&mut self, parameters: &[ir::Type]) -> Block {
        let block = self.b.create_block();
        for &ty in parameters {
            self.b.append_block_param(block, ty);
        }
        block
    }

    /// A new block with parameters, made current.
    pub fn enter(&mut self, block: Block) -> Vec<ir::Value> {
        self.b.switch_to_block(block);
        self.b.block_params(block).to_vec()
    }

    /// A block that leaves the function with a status.
    fn leave(&mut self) -> Block {
        if let Some(block) = self.exits.returns {
            return block;
        }
        let block = self.block(&[types::I32]);
        self.b.set_cold_block(block);
        self.exits.returns = Some(block);
        block
    }

    /// Where to go when an expression fails: a cold block that notes the point and leaves.
    pub fn failure(&mut self, point: FailurePoint) -> Block {
        if let Some(block) = self.exits.caught_by {
            self.exits.is_caught = true;
            return block;
        }
        let point = self.module.failures.index(point, self.span);
        if let Some(&block) = self.exits.failures.get(&point) {
            return block;
        }
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        self.exits.failures.insert(point, block);
        self.exits.points.push(point);
        block
    }

    fn fill_exits(&mut self) {
        if let Some(block) = self.exits.returns {
            let status = self.enter(block)[0];
            self.b.ins().return_(&[status]);
        }
        for point in std::mem::take(&mut self.exits.points) {
            self.b.switch_to_block(self.exits.failures[&point]);
            self.note(point);
            let status = self.small(STATUS_FAILED);
            self.b.ins().return_(&[status]);
        }
    }

    fn note(&mut self, point: usize) {
        let value = self.word(point as u64);
        let slot = offset_of!(PipelineContext, error) + offset_of!(ErrorSlot, point);
        self.store(value, self.context, slot as i32);
    }

    /// Lets failures lead to `block` until [`Emitter::catch_no_more`]. What a call noted of its error stays noted.
    pub fn catch(&mut self, block: Block) {
        (self.exits.caught_by, self.exits.is_caught) = (Some(block), false);
    }

    /// Ends [`Emitter::catch`]. Returns whether any failure leads to its block.
    pub fn catch_no_more(&mut self) -> bool {
        self.exits.caught_by = None;
        self.exits.is_caught
    }

    /// Fails where the condition holds; goes on otherwise.
    pub fn fail_if(&mut self, condition: ir::Value, point: FailurePoint) {
        let failure = self.failure(point);
        let on = self.b.create_block();
        self.branch(condition, failure, on);
        self.b.switch_to_block(on);
    }

    /// Leaves where a call returned another status than 0, its point noted.
    pub fn check_status(&mut self, status: ir::Value, point: FailurePoint) {
        if let Some(block) = self.exits.caught_by {
            self.exits.is_caught = true;
            let on = self.b.create_block();
            self.branch(status, block, on);
            self.b.switch_to_block(on);
            return;
        }
        let point = self.module.failures.index(point, self.span);
        let leave = self.leave();
        let (noted, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(noted);
        self.branch(status, noted, on);
        self.b.switch_to_block(noted);
        self.note(point);
        self.jump(leave, &[status]);
        self.b.switch_to_block(on);
    }

    /// Leaves with a status that needs no point (a stage below noted it) unless it is 0.
    pub fn pass_status(&mut self, status: ir::Value) {
        let leave = self.leave();
        let on = self.b.create_block();
        let args: [BlockArg; 1] = [status.into()];
        self.b.ins().brif(status, leave, &args, on, &[]);
        self.b.switch_to_block(on);
    }

    /// Leaves where the cancel flag is set.
    pub fn poll_cancel(&mut self) {
        let flag = self.hoist(Hoisted::Context(offset_of!(PipelineContext, cancel) as i32));
        let set = self.b.ins().load(types::I32, MemFlagsData::trusted(), flag, 0);
        let leave = self.leave();
        let status = self.small(STATUS_CANCELED);
        let on = self.b.create_block();
        let args: [BlockArg; 1] = [status.into()];
        self.b.ins().brif(set, leave, &args, on, &[]);
        self.b.switch_to_block(on);
    }

    // ---- calls ----

    /// Calls a function of the runtime's table; its result, if it has one.
    pub fn call(&mut self, function: Function, arguments: &[ir::Value]) -> Result<Option<ir::Value>> {
        let reference = match self.calls.get(&function) {
            Some(&f) => f,
            None => {
                let f = self.module.jit.import(function, self.b.func)?;
                self.calls.insert(function, f);
                f
            }
        };
        let call = self.b.ins().call(reference, arguments);
        Ok(self.b.inst_results(call).first().copied())
    }

    /// Calls a function that returns a value.
    pub fn call_value(&mut self, function: Function, arguments: &[ir::Value]) -> Result<ir::Value> {
        self.call(function, arguments)?
            .ok_or_else(|| Error::internal(format!("the runtime function {function:?} returns nothing")))
    }

    /// Calls a function that returns a status, and leaves if it failed.
    pub fn call_checked(
        &mut self,
        function: Function,
        arguments: &[ir::Value],
        point: FailurePoint,
    ) -> Result<()> {
        let status = self.call_value(function, arguments)?;
        self.check_status(status, point);
        Ok(())
    }

    /// Calls a function that writes its result, of a native type, through its last parameter.
    pub fn call_out(
        &mut self,
        function: Function,
        arguments: &[ir::Value],
        native: NativeType,
    ) -> Result<ir::Value> {
        let place = self.stack_place();
        let arguments: Vec<ir::Value> = arguments.iter().copied().chain([place]).collect();
        self.call(function, &arguments)?;
        Ok(self.load(native, place, 0))
    }

    /// As `call_out`, of a function that returns a status.
    pub fn call_out_checked(
        &mut self,
        function: Function,
        arguments: &[ir::Value],
        native: NativeType,
        point: FailurePoint,
    ) -> Result<ir::Value> {
        let place = self.stack_place();
        let arguments: Vec<ir::Value> = arguments.iter().copied().chain([place]).collect();
        self.call_checked(function, &arguments, point)?;
        Ok(self.load(native, place, 0))
    }

    // ---- small things ----

    /// Comparison of integers as an `i8`.
    pub fn icmp(&mut self, condition: IntCC, a: ir::Value, b: ir::Value) -> ir::Value {
        self.b.ins().icmp(condition, a, b)
    }

    /// A loop-carried variable with its first value.
    pub fn variable(&mut self, first: ir::Value) -> Variable {
        let ty = self.b.func.dfg.value_type(first);
        let variable = self.b.declare_var(ty);
        self.b.def_var(variable, first);
        variable
    }
}

fn block_args(values: &[ir::Value]) -> Vec<BlockArg> {
    values.iter().map(|&value| value.into()).collect()
}
