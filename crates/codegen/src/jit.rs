//! The machine-code side: one Cranelift module per plan, the runtime's functions by name, the text of
//! what was compiled. Functions wait until all are translated and are then compiled, by several threads where there are
//! several functions: each takes far longer to compile than to translate. Where they lie is known when all are compiled
//! ([`crate::code_memory`]).

use crate::code_memory::{CodeMemory, Reservation};
use crate::compile_options::{CompileOptions, Helpers};
use cranelift_codegen::Context;
use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{self, AbiParam, UserFuncName, types};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetFrontendConfig};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError, ModuleReloc};
use frazil_kernels::Isa;
use frazil_plan::longest_function;
use frazil_runtime::abi::{AbiType, PipelineContext, RuntimeFunction};
use frazil_runtime::functions::{FUNCTIONS, Function};
use frazil_types::{Cancel, Error, Result, SqlState};
use std::collections::HashMap;
use std::fmt::Write;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A stage function: context and number of rows to status.
pub(crate) type StageFunction = unsafe extern "C" fn(*mut PipelineContext, u64) -> u32;

/// A module in the making.
pub(crate) struct Jit {
    module: OwnedModule,
    imports: HashMap<Function, FuncId>,
    waiting: Vec<Waiting>,
    instructions: usize,
    /// Compiled, and not placed in memory yet.
    compiled: Vec<(FuncId, MachineCode)>,
    reservation: Reservation,
    context: Context,
    text: Option<String>,
    options: CompileOptions,
}

/// A function that waits to be compiled.
struct Waiting {
    id: FuncId,
    name: String,
    function: ir::Function,
    allocation: Allocation,
}

/// The machine code of a function.
struct MachineCode {
    alignment: u64,
    bytes: Vec<u8>,
    relocations: Vec<ModuleReloc>,
}

/// Bytes that Cranelift keeps behind a function for each call that may be too far for its instruction, at most.
const VENEER_BYTES: usize = 32;

impl MachineCode {
    /// Bytes that the function takes in memory, at most, without those before it that align it.
    fn placed_bytes(&self) -> usize {
        let far_calls = (self.relocations.iter()).filter(|r| r.kind == Reloc::Arm64Call);
        self.bytes.len() + far_calls.count() * VENEER_BYTES
    }
}

/// A module that frees its memory. Cranelift's own keeps it for good when it is dropped, whether code was finished or
/// given up.
struct OwnedModule(ManuallyDrop<JITModule>);

impl Deref for OwnedModule {
    type Target = JITModule;

    fn deref(&self) -> &JITModule {
        &self.0
    }
}

impl DerefMut for OwnedModule {
    fn deref_mut(&mut self) -> &mut JITModule {
        &mut self.0
    }
}

impl Drop for OwnedModule {
    fn drop(&mut self) {
        // SAFETY: the module is not used after this. Whoever holds a function pointer of its code holds the code, and so the
        // module, too.
        unsafe { ManuallyDrop::take(&mut self.0).free_memory() };
    }
}

/// Finished code. It is freed when dropped.
pub(crate) struct JitCode {
    _module: OwnedModule,
    /// The CLIF text, where it was asked for.
    pub text: Option<String>,
}

// SAFETY: after `finish` the module is only kept alive; nothing looks into it until it is dropped.
unsafe impl Send for JitCode {}
// SAFETY: see above.
unsafe impl Sync for JitCode {}

impl std::fmt::Debug for JitCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JitCode")
    }
}

fn internal(error: impl std::fmt::Display) -> Error {
    Error::internal(format!("code generation failed: {error}"))
}

/// Why a function was not placed.
fn not_placed(error: ModuleError) -> Error {
    match &error {
        ModuleError::Allocation { err } if err.kind() == std::io::ErrorKind::OutOfMemory => Error::new(
            SqlState::OUT_OF_MEMORY,
            "out of memory for the code of this statement",
        ),
        _ => internal(error),
    }
}

/// What a machine with AVX2 has, as Cranelift names it.
const AVX2_FLAGS: [&str; 11] = [
    "has_sse3",
    "has_ssse3",
    "has_sse41",
    "has_sse42",
    "has_popcnt",
    "has_avx",
    "has_avx2",
    "has_bmi1",
    "has_bmi2",
    "has_fma",
    "has_lzcnt",
];

/// A function of more instructions than this is long: its registers are allocated in one pass. The allocator that looks
/// for the best registers takes time in proportion to the square of the instructions, where many values live long.
const LONG_FUNCTION: usize = 2_000;

/// Instructions that wait at most: a plan may have thousands of functions.
const MOST_WAITING: usize = 100_000;

/// Instructions from which on other threads are asked to help: they take about a millisecond.
const WORTH_HELP: usize = 400;

/// How registers are allocated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allocation {
    /// As well as possible.
    Backtracking,
    /// In one pass over the code.
    SinglePass,
}

/// The target, made once for each set of options.
fn target(options: &CompileOptions, allocation: Allocation) -> Result<OwnedTargetIsa> {
    static TARGETS: [[OnceLock<OwnedTargetIsa>; 12]; 2] = [const { [const { OnceLock::new() }; 12] }; 2];
    let set = match options.isa {
        None | Some(Isa::Avx512) => 0,
        Some(Isa::Avx2) => 1,
        Some(Isa::Scalar) => 2,
    };
    let slot = &TARGETS[allocation as usize]
        [usize::from(options.optimize) + 2 * usize::from(options.verify) + 4 * set];
    if let Some(isa) = slot.get() {
        return Ok(isa.clone());
    }
    let mut flags = settings::builder();
    let on = |flag: bool| if flag { "true" } else { "false" };
    for (name, value) in [
        ("opt_level", if options.optimize { "speed" } else { "none" }),
        (
            "regalloc_algorithm",
            match allocation {
                Allocation::Backtracking => "backtracking",
                Allocation::SinglePass => "single_pass",
            },
        ),
        ("enable_verifier", on(options.verify)),
        ("use_colocated_libcalls", "false"),
        ("is_pic", "false"),
        ("unwind_info", "false"),
    ] {
        flags.set(name, value).map_err(internal)?;
    }
    let mut isa = cranelift_native::builder_with_options(set == 0).map_err(internal)?;
    if set == 1 && cfg!(target_arch = "x86_64") {
        for name in AVX2_FLAGS {
            isa.enable(name).map_err(internal)?;
        }
    }
    let isa = isa.finish(settings::Flags::new(flags)).map_err(internal)?;
    Ok(slot.get_or_init(|| isa).clone())
}

/// The runtime's functions by name.
fn functions() -> &'static HashMap<&'static str, &'static RuntimeFunction> {
    static BY_NAME: OnceLock<HashMap<&'static str, &'static RuntimeFunction>> = OnceLock::new();
    BY_NAME.get_or_init(|| FUNCTIONS.iter().map(|f| (f.name, f)).collect())
}

fn clif_type_of(ty: AbiType) -> ir::Type {
    match ty {
        AbiType::I32 => types::I32,
        AbiType::I64 => types::I64,
        AbiType::F64 => types::F64,
    }
}

impl Jit {
    /// An empty module.
    pub fn new(options: &CompileOptions) -> Result<Jit> {
        let isa = target(options, Allocation::Backtracking)?;
        let mut builder = JITBuilder::with_isa(isa, cranelift_module::default_libcall_names());
        builder.symbol_lookup_fn(Box::new(|name| functions().get(name).map(|f| f.address)));
        let reservation = Reservation::default();
        builder.memory_provider(Box::new(CodeMemory::new(reservation.clone())));
        let module = OwnedModule(ManuallyDrop::new(JITModule::new(builder)));
        Ok(Jit {
            imports: HashMap::new(),
            waiting: Vec::new(),
            instructions: 0,
            compiled: Vec::new(),
            reservation,
            context: module.make_context(),
            module,
            text: options.text.then(String::new),
            options: options.clone(),
        })
    }

    /// What `FunctionBuilder::finalize` wants.
    pub fn frontend_config(&self) -> TargetFrontendConfig {
        self.module.target_config()
    }

    /// A runtime function, to be called in `caller`.
    pub fn import(&mut self, function: Function, caller: &mut ir::Function) -> Result<ir::FuncRef> {
        let id = match self.imports.get(&function) {
            Some(&id) => id,
            None => {
                let f = function.describe();
                let mut signature = self.module.make_signature();
                let parameter = |&p: &AbiType| AbiParam::new(clif_type_of(p));
                signature.params = f.parameters.iter().map(parameter).collect();
                signature.returns = f.result.iter().map(parameter).collect();
                let id = self.module.declare_function(f.name, Linkage::Import, &signature);
                let id = id.map_err(internal)?;
                self.imports.insert(function, id);
                id
            }
        };
        Ok(self.module.declare_func_in_func(id, caller))
    }

    /// Declares a stage function.
    pub fn declare_stage(&mut self, name: &str) -> Result<FuncId> {
        let signature = self.stage_signature();
        self.module
            .declare_function(name, Linkage::Local, &signature)
            .map_err(internal)
    }

    /// A stage function, to be called in another.
    pub fn stage_in(&mut self, id: FuncId, function: &mut ir::Function) -> ir::FuncRef {
        self.module.declare_func_in_func(id, function)
    }

    fn stage_signature(&self) -> ir::Signature {
        let mut signature = self.module.make_signature();
        signature.params = vec![AbiParam::new(types::I64), AbiParam::new(types::I64)];
        signature.returns = vec![AbiParam::new(types::I32)];
        signature
    }

    /// An empty function for a declared stage, and its number for [`Jit::define`].
    pub fn begin(&self, id: FuncId) -> ir::Function {
        ir::Function::with_name_signature(UserFuncName::user(0, id.as_u32()), self.stage_signature())
    }

    /// Takes a function to be compiled. 54001 if it is too long.
    pub fn define(
        &mut self,
        id: FuncId,
        name: &str,
        function: ir::Function,
        allocation: Allocation,
    ) -> Result<()> {
        self.write_text(name, &function);
        self.may_grow(&function)?;
        let instructions = function.dfg.num_insts();
        let allocation = match instructions > LONG_FUNCTION {
            true => Allocation::SinglePass,
            false => allocation,
        };
        self.waiting.push(Waiting {
            id,
            name: name.to_owned(),
            function,
            allocation,
        });
        self.instructions += instructions;
        match self.instructions > MOST_WAITING {
            true => self.compile_waiting(),
            false => Ok(()),
        }
    }

    /// Asked while a function is made: 54001 once it is too long, 57014 once nobody waits for it.
    pub fn may_grow(&self, function: &ir::Function) -> Result<()> {
        self.options.cancel.check()?;
        longest_function::check_instructions(function.dfg.num_insts())
    }

    fn write_text(&mut self, name: &str, function: &ir::Function) {
        let Some(text) = &mut self.text else { return };
        let _ = writeln!(text, "; {name}");
        for (id, f) in self.module.declarations().get_functions() {
            let mut named = function.params.user_named_funcs().values();
            if let (true, Some(callee)) = (named.any(|n| n.index == id.as_u32()), &f.name) {
                let _ = writeln!(text, ";   u0:{} is {callee}", id.as_u32());
            }
        }
        let _ = writeln!(text, "{}", function.display());
    }

    /// Compiles the functions that wait. 57014 between two of them.
    fn compile_waiting(&mut self) -> Result<()> {
        let (waiting, instructions) = (std::mem::take(&mut self.waiting), self.instructions);
        self.instructions = 0;
        let targets = Targets::new(&self.options)?;
        let helpers = (self.options.helpers.clone())
            .filter(|h| h.workers > 1 && waiting.len() > 1 && instructions >= WORTH_HELP);
        let compiled = match helpers {
            Some(helpers) => together(waiting, targets, &self.options.cancel, &helpers)?,
            None => {
                let context = &mut self.context;
                let one_by_one = waiting.into_iter().map(|waiting| {
                    self.options.cancel.check()?;
                    Ok((waiting.id, targets.compile(waiting, context)?))
                });
                one_by_one.collect::<Result<_>>()?
            }
        };
        self.compiled.extend(compiled);
        Ok(())
    }

    /// Places what is compiled into one mapping. 53200 if the system has none.
    fn place(&mut self) -> Result<()> {
        let isa = self.module.isa();
        let least = isa
            .symbol_alignment()
            .max(u64::from(isa.function_alignment().minimum));
        let alignments = self.compiled.iter().map(|(_, code)| code.alignment);
        let alignment = alignments.fold(least, u64::max) as usize;
        let sizes = self.compiled.iter().map(|(_, code)| code.placed_bytes());
        self.reservation
            .set(sizes.map(|bytes| bytes.next_multiple_of(alignment)).sum());
        for (id, code) in self.compiled.drain(..) {
            (self.module)
                .define_function_bytes(id, code.alignment, &code.bytes, &code.relocations)
                .map_err(not_placed)?;
        }
        Ok(())
    }

    /// Makes the code executable; the addresses of these functions.
    pub fn finish(mut self, stages: &[FuncId]) -> Result<(JitCode, Vec<StageFunction>)> {
        self.compile_waiting()?;
        self.place()?;
        self.module.finalize_definitions().map_err(internal)?;
        let functions = stages
            .iter()
            .map(|&id| {
                let address = self.module.get_finalized_function(id);
                // SAFETY: the function was compiled with the signature of a stage function.
                unsafe { std::mem::transmute::<*const u8, StageFunction>(address) }
            })
            .collect();
        let code = JitCode {
            _module: self.module,
            text: self.text,
        };
        Ok((code, functions))
    }
}

/// The targets for both ways to allocate registers.
struct Targets {
    backtracking: OwnedTargetIsa,
    single_pass: OwnedTargetIsa,
}

impl Targets {
    fn new(options: &CompileOptions) -> Result<Targets> {
        Ok(Targets {
            backtracking: target(options, Allocation::Backtracking)?,
            single_pass: target(options, Allocation::SinglePass)?,
        })
    }

    fn compile(&self, waiting: Waiting, context: &mut Context) -> Result<MachineCode> {
        let isa = match waiting.allocation {
            Allocation::Backtracking => &self.backtracking,
            Allocation::SinglePass => &self.single_pass,
        };
        context.clear();
        context.func = waiting.function;
        let compiled = context
            .compile(&**isa, &mut ControlPlane::default())
            .map_err(|e| {
                Error::internal(format!(
                    "code generation of {} failed: {:?}",
                    waiting.name, e.inner
                ))
            })?;
        let alignment = u64::from(compiled.buffer.alignment);
        let bytes = compiled.code_buffer().to_vec();
        let relocations = compiled.buffer.relocs().to_vec();
        let relocations = (relocations.iter())
            .map(|r| ModuleReloc::from_mach_reloc(r, &context.func, waiting.id))
            .collect();
        Ok(MachineCode {
            alignment,
            bytes,
            relocations,
        })
    }
}

/// Compiles functions on several threads, the longest first.
fn together(
    mut waiting: Vec<Waiting>,
    targets: Targets,
    cancel: &Cancel,
    helpers: &Helpers,
) -> Result<Vec<(FuncId, MachineCode)>> {
    type Compiled = Result<MachineCode>;
    fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }
    let ids: Vec<FuncId> = waiting.iter().map(|w| w.id).collect();
    waiting.sort_by_key(|w| std::cmp::Reverse(w.function.dfg.num_insts()));
    let work: Vec<Mutex<Option<Waiting>>> = waiting.into_iter().map(|w| Mutex::new(Some(w))).collect();
    let done: Arc<Mutex<Vec<(FuncId, Compiled)>>> = Arc::default();
    let (next, compiled, cancel) = (AtomicUsize::new(0), done.clone(), cancel.clone());
    let workers = helpers.workers.min(work.len());
    let task = move |_: usize| {
        let mut context = Context::new();
        while let Some(place) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(waiting) = held(place).take() else {
                continue;
            };
            let id = waiting.id;
            let code = cancel
                .check()
                .and_then(|()| targets.compile(waiting, &mut context));
            held(&compiled).push((id, code));
        }
    };
    (helpers.run)(workers, Arc::new(task));
    let mut by_id: HashMap<FuncId, Result<MachineCode>> = held(&done).drain(..).collect();
    // In the order in which they came, so that the same plan lies in memory the same way.
    let in_order = ids.into_iter().map(|id| {
        let code = by_id.remove(&id);
        let code = code.unwrap_or_else(|| Err(Error::internal("a function was not compiled")))?;
        Ok((id, code))
    });
    in_order.collect()
}

/// Builders reuse their memory from function to function.
pub(crate) fn builder<'a>(
    function: &'a mut ir::Function,
    context: &'a mut FunctionBuilderContext,
) -> FunctionBuilder<'a> {
    FunctionBuilder::new(function, context)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use cranelift_codegen::ir::InstBuilder;

    fn resident_kilobytes() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Compiles two functions of some 80 kilobytes and gives them up, as a cancel does before the third.
    fn give_up(options: &CompileOptions) {
        let mut jit = Jit::new(options).unwrap();
        let mut contexts = FunctionBuilderContext::new();
        for name in ["first", "second"] {
            let id = jit.declare_stage(name).unwrap();
            let mut function = jit.begin(id);
            let mut b = builder(&mut function, &mut contexts);
            let block = b.create_block();
            b.append_block_params_for_function_params(block);
            b.switch_to_block(block);
            b.seal_all_blocks();
            let mut value = b.block_params(block)[1];
            for _ in 0..20_000 {
                value = b.ins().imul(value, value);
            }
            let status = b.ins().ireduce(types::I32, value);
            b.ins().return_(&[status]);
            b.finalize(jit.frontend_config());
            jit.define(id, name, function, Allocation::SinglePass).unwrap();
        }
        jit.compile_waiting().unwrap();
        jit.place().unwrap();
    }

    #[test]
    fn code_that_is_given_up_is_freed() {
        let options = CompileOptions::default();
        (0..3).for_each(|_| give_up(&options));
        // The allocator may take some memory for good in one round; code that stayed would be there after each of them.
        let rounds = (0..3).map(|_| {
            let before = resident_kilobytes();
            (0..60).for_each(|_| give_up(&options));
            resident_kilobytes().saturating_sub(before)
        });
        let more = rounds.min().unwrap();
        assert!(more < 2_000, "{more} kB stay after each round");
    }
}
