//! The machine-code side: one Cranelift module per plan, the runtime's functions by name, the text of
//! what was compiled.

use crate::compile::CompileOptions;
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{self, AbiParam, UserFuncName, types};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetFrontendConfig};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleReloc};
use frazil_kernels::Isa;
use frazil_runtime::abi::{AbiType, PipelineContext, RuntimeFunction};
use frazil_runtime::functions::{FUNCTIONS, Function};
use frazil_types::{Error, Result, SqlState};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::OnceLock;

/// A stage function: context and number of rows to status.
pub(crate) type StageFunction = unsafe extern "C" fn(*mut PipelineContext, u64) -> u32;

/// A module in the making.
pub(crate) struct Jit {
    module: JITModule,
    imports: HashMap<Function, FuncId>,
    context: Context,
    text: Option<String>,
    options: CompileOptions,
}

/// Finished code. It is freed when dropped.
pub(crate) struct JitCode {
    module: Option<JITModule>,
    /// The CLIF text, where it was asked for.
    pub text: Option<String>,
}

// SAFETY: after `finish` the module is only kept alive; nothing looks into it until it is dropped.
unsafe impl Send for JitCode {}
// SAFETY: see above.
unsafe impl Sync for JitCode {}

impl Drop for JitCode {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: whoever holds a function pointer of this code holds the code too.
            unsafe { module.free_memory() };
        }
    }
}

impl std::fmt::Debug for JitCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JitCode")
    }
}

fn internal(error: impl std::fmt::Display) -> Error {
    Error::internal(format!("code generation failed: {error}"))
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

/// A function of more instructions than this is refused: nothing hears a cancel while Cranelift compiles one.
const LONGEST_FUNCTION: usize = 50_000;

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
        let module = JITModule::new(builder);
        Ok(Jit {
            imports: HashMap::new(),
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

    /// Compiles a function.
    pub fn define(
        &mut self,
        id: FuncId,
        name: &str,
        function: ir::Function,
        allocation: Allocation,
    ) -> Result<()> {
        if let Some(text) = &mut self.text {
            let _ = writeln!(text, "; {name}");
            for (id, f) in self.module.declarations().get_functions() {
                let used = function
                    .params
                    .user_named_funcs()
                    .values()
                    .any(|n| n.index == id.as_u32());
                if let (true, Some(callee)) = (used, &f.name) {
                    let _ = writeln!(text, ";   u0:{} is {callee}", id.as_u32());
                }
            }
            let _ = writeln!(text, "{}", function.display());
        }
        let instructions = function.dfg.num_insts();
        if instructions > LONGEST_FUNCTION {
            let message = "the statement is too long to be compiled";
            return Err(Error::new(SqlState::STATEMENT_TOO_COMPLEX, message)
                .with_detail(format!(
                    "a function of it has {instructions} instructions, {LONGEST_FUNCTION} are supported"
                ))
                .with_hint("cut it into several statements, or keep what it computes in a table"));
        }
        let is_short_cut = instructions > LONG_FUNCTION || allocation == Allocation::SinglePass;
        self.context.clear();
        self.context.func = function;
        let defined = match is_short_cut {
            true => self.define_in_one_pass(id),
            false => (self.module.define_function(id, &mut self.context)).map_err(|e| format!("{e:?}")),
        };
        defined.map_err(|e| Error::internal(format!("code generation of {name} failed: {e}")))
    }

    /// Compiles the function in the context, its registers allocated in one pass.
    fn define_in_one_pass(&mut self, id: FuncId) -> std::result::Result<(), String> {
        let isa = target(&self.options, Allocation::SinglePass).map_err(|e| e.to_string())?;
        let compiled = self.context.compile(&*isa, &mut ControlPlane::default());
        let compiled = compiled.map_err(|e| format!("{:?}", e.inner))?;
        let alignment = u64::from(compiled.buffer.alignment);
        let (code, relocations) = (compiled.code_buffer().to_vec(), compiled.buffer.relocs().to_vec());
        let relocations: Vec<ModuleReloc> = (relocations.iter())
            .map(|r| ModuleReloc::from_mach_reloc(r, &self.context.func, id))
            .collect();
        (self
            .module
            .define_function_bytes(id, alignment, &code, &relocations))
        .map_err(|e| format!("{e:?}"))
    }

    /// Makes the code executable; the addresses of these functions.
    pub fn finish(mut self, stages: &[FuncId]) -> Result<(JitCode, Vec<StageFunction>)> {
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
            module: Some(self.module),
            text: self.text,
        };
        Ok((code, functions))
    }
}

/// Builders reuse their memory from function to function.
pub(crate) fn builder<'a>(
    function: &'a mut ir::Function,
    context: &'a mut FunctionBuilderContext,
) -> FunctionBuilder<'a> {
    FunctionBuilder::new(function, context)
}
