//! One worker of a running pipeline: its private objects, and the call into generated code.

use crate::compile::CompiledPipeline;
use crate::objects::ObjectSpec;
use crate::open_pipeline::{Constant, OpenPipeline};
use crate::outgrown_groups::{self, OwnCode};
use crate::refilled::Drained;
use crate::row_source::SourceCursor;
use frazil_runtime::abi::{
    ErrorSlot, ParameterCell, Partitions, PipelineContext, STATUS_CANCELED, STATUS_ENOUGH, STATUS_OK,
    STATUS_PAUSED, Scratch, VectorColumn,
};
use frazil_runtime::breakers::{Breaker, Partial, part_as_mut};
use frazil_runtime::caught_panic;
use frazil_runtime::functions::VectorCall;
use frazil_runtime::memory::Memory;
use frazil_runtime::{BufferWriter, CodeGroups};
use frazil_types::{Cancel, Error, MemoryBudget, Result};
use std::sync::Arc;

/// [`PipelineContext::drain`] of a call behind which no row stays in a stage vector.
const DRAIN: u64 = 1;

/// How a morsel ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// All rows are through.
    Done,
    /// The sink has all rows it wants.
    Enough,
    /// The morsel has more rows, but the buffer as many bytes as the worker was told to pause at.
    Paused,
}

/// A worker's private state. It goes from thread to thread only as a whole.
pub struct Worker {
    open: Arc<OpenPipeline>,
    /// Its code, if that is not the pipeline's.
    own_code: Option<OwnCode>,
    /// Bytes of its groups from which on it takes other code; `None` if it keeps what it has.
    group_limit: Option<usize>,
    cursor: SourceCursor,
    // Addresses of the objects, in the order generated code knows; owned by the fields below or by `open`.
    objects: Vec<*mut u8>,
    partial: Option<Box<dyn Partial>>,
    _output: Box<[VectorColumn]>,
    // Boxed: generated code knows their addresses.
    #[allow(clippy::vec_box, reason = "their addresses must not change")]
    calls: Vec<Box<VectorCall>>,
    memory: Memory,
    scratch: Box<Scratch>,
    rows: u64,
    /// Rows that were handed on in stage vectors, and rows that these vectors have room for.
    handed: (u64, u64),
    /// Bytes in the sink's buffer at which a morsel is left.
    pause_at: usize,
    /// Rows of the vector in whose middle generated code paused; 0 if it did not.
    left: usize,
}

// SAFETY: the addresses point into memory that this worker or the Arc'd pipeline owns, and that moves
// with neither.
unsafe impl Send for Worker {}

impl Worker {
    pub(crate) fn new(open: Arc<OpenPipeline>) -> Result<Worker> {
        let partial = open.partial()?;
        let group_limit = outgrown_groups::limit(&open);
        Ok(Worker {
            group_limit,
            ..Worker::with(open, None, partial)?
        })
    }

    /// A worker that goes on with a part of what the pipeline fills.
    fn with(
        open: Arc<OpenPipeline>,
        own_code: Option<OwnCode>,
        mut partial: Option<Box<dyn Partial>>,
    ) -> Result<Worker> {
        let pipeline = own_code.as_ref().map_or(open.compiled(), OwnCode::compiled);
        let constants = own_code.as_ref().map_or(&open.constants, |own| &own.constants);
        let memory = Memory::zeroed(pipeline.memory_bytes)?;
        let base = memory.as_ptr();
        let output: Box<[VectorColumn]> = (pipeline.output.iter())
            .map(|slot| {
                let column = VectorColumn::flat(base.wrapping_add(slot.values).cast_const());
                match slot.validity {
                    Some(at) => column.with_validity(base.wrapping_add(at).cast_const()),
                    None => column,
                }
            })
            .collect();
        let sink = partial
            .as_mut()
            .map_or(std::ptr::null_mut(), |part| part.address());
        let mut calls = Vec::new();
        let mut cursor = SourceCursor::new(&open.source, pipeline, &open.budget);
        let places = Places {
            sink,
            output: &output,
            code_groups: cursor.code_groups(),
            constants,
        };
        let objects = (pipeline.objects.iter().enumerate())
            .map(|(i, spec)| address(&open, i, spec, &places, &mut calls))
            .collect::<Result<_>>()?;
        Ok(Worker {
            group_limit: None,
            cursor,
            objects,
            partial,
            _output: output,
            calls,
            memory,
            scratch: Box::new(Scratch::new(&open.budget, &open.cancel)),
            rows: 0,
            handed: (0, 0),
            pause_at: usize::MAX,
            left: 0,
            own_code,
            open,
        })
    }

    /// Its code.
    fn compiled(&self) -> &CompiledPipeline {
        (self.own_code.as_ref()).map_or_else(|| self.open.compiled(), OwnCode::compiled)
    }

    /// Goes on with other code if its groups have outgrown the cache. Called between morsels.
    fn follow_growth(&mut self) -> Result<()> {
        let (Some(limit), Some(partial)) = (self.group_limit, &self.partial) else {
            return Ok(());
        };
        if !outgrown_groups::are_outgrown(&self.open, &**partial, limit, self.rows) {
            return Ok(());
        }
        self.group_limit = None;
        let Some(code) = outgrown_groups::code(&self.open)? else {
            return Ok(());
        };
        self.end()?;
        let partial = self.partial.take();
        let next = Worker::with(self.open.clone(), Some(code), partial)?;
        *self = Worker {
            rows: self.rows,
            handed: self.handed,
            pause_at: self.pause_at,
            ..next
        };
        Ok(())
    }

    /// Runs one morsel.
    pub fn run(&mut self, morsel: usize) -> Result<Flow> {
        self.follow_growth()?;
        self.cursor.open(&self.open.source, morsel)?;
        if self.compiled().drained == Drained::EachMorsel {
            self.forget_rows_left();
        }
        if let Some(part) = &mut self.partial {
            part.begin_morsel(self.open.place(morsel));
        }
        self.go_on()
    }

    /// Has it pause in the middle of a morsel once the sink's buffer has so many bytes: within a vector of the source
    /// if its code can, else between two of them.
    pub fn pause_at(&mut self, bytes: usize) {
        self.pause_at = bytes;
        if self.compiled().pauses
            && let Some(writer) = self.writer_mut()
        {
            writer.pause_at(bytes);
        }
    }

    /// Goes on with the morsel at which it paused.
    pub fn go_on(&mut self) -> Result<Flow> {
        loop {
            let rows = match std::mem::take(&mut self.left) {
                0 => {
                    let Some(rows) = self.cursor.next()? else {
                        return match self.compiled().drained {
                            Drained::EachMorsel => self.drain(),
                            Drained::EachVector | Drained::AtTheEnd => Ok(Flow::Done),
                        };
                    };
                    self.rows += rows as u64;
                    self.scratch.clear();
                    rows
                }
                // The rows of the vector refer to strings in the scratch.
                left => left,
            };
            let flow = self.call(rows)?;
            if flow == Flow::Enough || self.has_enough() {
                self.forget_rows_left();
                return Ok(Flow::Enough);
            }
            if flow == Flow::Paused {
                self.left = rows;
                return Ok(flow);
            }
            if self.pause_at < usize::MAX && self.bytes_written() >= self.pause_at {
                return Ok(Flow::Paused);
            }
        }
    }

    fn has_enough(&self) -> bool {
        self.partial.as_ref().is_some_and(|part| part.has_enough())
    }

    /// Has the stages hand on the rows that their vectors have.
    fn drain(&mut self) -> Result<Flow> {
        self.scratch.clear();
        // The call has no rows of the source, so nobody looks at the columns.
        let (columns, partitions) = (self.cursor.columns().as_ptr(), self.cursor.partitions());
        let flow = self.call_with(columns, partitions, 0, DRAIN)?;
        self.forget_rows_left();
        match flow {
            Flow::Done if self.has_enough() => Ok(Flow::Enough),
            flow => Ok(flow),
        }
    }

    /// Empties stage vectors that are refilled.
    fn forget_rows_left(&mut self) {
        let memory = self.memory.as_ptr();
        for &at in &self.compiled().rows_left {
            // SAFETY: a word of the stage memory, at a multiple of 64 bytes.
            unsafe { memory.wrapping_add(at).cast::<u64>().write(0) };
        }
    }

    /// Bytes in its part of what the pipeline fills.
    pub fn bytes_written(&self) -> usize {
        self.partial.as_ref().map_or(0, |part| part.bytes())
    }

    /// Bytes of its stage memory, which no budget counts.
    pub fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// What it put into the sink's buffer so far; it goes on with an empty part. Error: an internal one for a sink that is not a
    /// buffer.
    pub fn take_written(&mut self) -> Result<BufferWriter> {
        let writer = self.writer_mut();
        let writer = writer.ok_or_else(|| Error::internal("rows are taken from a sink that is no buffer"))?;
        // Generated code keeps the address of the writer, which is the same.
        let empty = writer.emptied();
        Ok(std::mem::replace(writer, empty))
    }

    /// Runs generated code over the vector in hand.
    fn call(&mut self, rows: usize) -> Result<Flow> {
        let (columns, partitions) = (self.cursor.columns().as_ptr(), self.cursor.partitions());
        let drain = match self.compiled().drained {
            Drained::EachVector => DRAIN,
            Drained::EachMorsel | Drained::AtTheEnd => 0,
        };
        self.call_with(columns, partitions, rows, drain)
    }

    /// Runs generated code over rows that lie side by side, in the columns of the pipeline's source.
    pub(crate) fn call_over(&mut self, columns: &[VectorColumn], rows: usize) -> Result<Flow> {
        self.scratch.clear();
        debug_assert_eq!(columns.len(), self.compiled().source.columns.len());
        self.call_with(columns.as_ptr(), Partitions::SIDE_BY_SIDE, rows, DRAIN)
    }

    fn call_with(
        &mut self,
        source: *const VectorColumn,
        partitions: Partitions,
        rows: usize,
        drain: u64,
    ) -> Result<Flow> {
        let mut context = PipelineContext {
            source,
            partitions,
            parameters: self.open.cells.as_ptr(),
            objects: self.objects.as_ptr(),
            stage_memory: self.memory.as_ptr(),
            cancel: self.open.cancel.as_ptr(),
            scratch: &raw mut *self.scratch,
            error: ErrorSlot {
                point: 0,
                error: None,
            },
            drain,
            handed_rows: 0,
            handed_room: 0,
        };
        let entry = self.compiled().entry;
        // SAFETY: the function was compiled for this pipeline: it reads as many source columns, parameters,
        // objects and bytes of stage memory as were made for it from the same plan, all alive during the call.
        let status = unsafe { entry(&raw mut context, rows as u64) };
        self.handed.0 += context.handed_rows;
        self.handed.1 += context.handed_room;
        // A function that panicked may have had no status to say so.
        if let Some(error) = caught_panic::take() {
            return Err(error);
        }
        match status {
            STATUS_OK => Ok(Flow::Done),
            STATUS_ENOUGH => Ok(Flow::Enough),
            STATUS_PAUSED => Ok(Flow::Paused),
            STATUS_CANCELED => match self.open.cancel.check() {
                Err(error) => Err(error),
                Ok(()) => Err(Error::internal("generated code stopped without a reason")),
            },
            _ => {
                let noted = context.error.error.take().map(|error| *error);
                Err(match &self.own_code {
                    Some(own) => own.moved.failures.error(context.error.point, noted),
                    None => self.open.failure(context.error.point, noted),
                })
            }
        }
    }

    /// The cells of the parameters.
    pub(crate) fn parameter_cells(&self) -> &[ParameterCell] {
        &self.open.cells
    }

    /// What its objects take their memory from.
    pub(crate) fn budget(&self) -> &MemoryBudget {
        &self.open.budget
    }

    /// Its pipeline, if no other worker has it; else an internal error.
    pub(crate) fn own(&mut self) -> Result<&mut OpenPipeline> {
        Arc::get_mut(&mut self.open).ok_or_else(|| Error::internal("a pipeline that several workers share"))
    }

    /// Has its own objects stopped by another flag.
    pub(crate) fn stop_by(&mut self, cancel: &Cancel) {
        self.scratch.stop_by(cancel);
        for call in &mut self.calls {
            call.stop_by(cancel);
        }
    }

    /// Goes on with an empty part of a breaker in place of the one that was taken out. Error 53200.
    pub(crate) fn begin_part(&mut self, breaker: &Arc<dyn Breaker>) -> Result<()> {
        let open = self.own()?;
        open.breaker = Some(breaker.clone());
        self.partial = open.partial()?;
        self.place_part();
        Ok(())
    }

    /// Takes out its part of a breaker. Rows must not come before [`Worker::begin_part`] is called.
    pub(crate) fn take_part(&mut self) -> Option<Box<dyn Partial>> {
        let part = self.partial.take();
        self.place_part();
        part
    }

    /// Tells generated code the address of the part; null if there is none.
    fn place_part(&mut self) {
        let sink = (self.partial.as_mut()).map_or(std::ptr::null_mut(), |part| part.address());
        let pipeline = (self.own_code.as_ref()).map_or_else(|| self.open.compiled(), OwnCode::compiled);
        for (object, spec) in self.objects.iter_mut().zip(&pipeline.objects) {
            if matches!(spec, ObjectSpec::Part) {
                *object = sink;
            }
        }
    }

    /// Gives back the memory that a run has taken.
    pub(crate) fn rest(&mut self) {
        self.scratch.rest();
        self.calls.iter_mut().for_each(|call| call.forget());
    }

    /// Its part of the sink's buffer, if that is what the pipeline fills.
    pub(crate) fn writer_mut(&mut self) -> Option<&mut BufferWriter> {
        self.partial.as_deref_mut().and_then(part_as_mut)
    }

    /// Rows that entered generated code.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Number of stages of its code, if their boundaries are not the planned ones.
    pub fn moved_stages(&self) -> Option<usize> {
        let own = self.own_code.as_ref().map(|own| own.compiled().stages);
        own.or_else(|| self.open.moved_stages())
    }

    /// Rows that stages handed on in stage vectors, and rows that these vectors have room for.
    pub fn handed(&self) -> (u64, u64) {
        self.handed
    }

    /// Hands on all rows that are left in stage vectors. To be called behind the worker's last morsel. The errors of
    /// the pipeline.
    pub fn end(&mut self) -> Result<()> {
        if self.compiled().drained == Drained::AtTheEnd {
            self.drain()?;
        }
        Ok(())
    }

    /// The worker's part of the sink's breaker, after [`Worker::end`]; `None` if its pipeline only marks.
    pub fn finish(self) -> Option<Box<dyn Partial>> {
        self.partial
    }
}

/// Addresses of the objects that other fields of a worker own.
struct Places<'a> {
    /// The worker's part of the sink's breaker; null if it has none.
    sink: *mut u8,
    output: &'a [VectorColumn],
    /// Null if its source has no cells of groups.
    code_groups: *mut CodeGroups,
    /// For each object the constant that it is.
    constants: &'a [Option<Constant>],
}

/// Where the object `spec`, the i-th of the pipeline, lies.
#[expect(
    clippy::vec_box,
    reason = "generated code keeps the addresses of calls while their list grows"
)]
fn address(
    open: &OpenPipeline,
    i: usize,
    spec: &ObjectSpec,
    places: &Places<'_>,
    calls: &mut Vec<Box<VectorCall>>,
) -> Result<*mut u8> {
    fn of<T>(object: &T) -> *mut u8 {
        std::ptr::from_ref(object).cast_mut().cast()
    }
    Ok(match spec {
        ObjectSpec::Finished(id) => open.state.breaker(*id)?.address().cast_mut(),
        ObjectSpec::VectorCall {
            function,
            arguments,
            result,
            guarded,
            ..
        } => {
            let call = VectorCall::new(function.clone(), arguments.clone(), *result);
            let call = call.under(&open.cancel, &open.budget);
            calls.push(Box::new(if *guarded { call.guarded() } else { call }));
            match calls.last_mut() {
                Some(call) => (&raw mut **call).cast(),
                None => std::ptr::null_mut(),
            }
        }
        ObjectSpec::OutputColumns => places.output.as_ptr().cast_mut().cast(),
        ObjectSpec::CodeGroups => places.code_groups.cast(),
        ObjectSpec::Part => places.sink,
        ObjectSpec::String(_) | ObjectSpec::Like { .. } | ObjectSpec::Values(_) => match &places.constants[i]
        {
            Some(Constant::String(string, _)) => of(&**string),
            Some(Constant::Like(pattern)) => of(&**pattern),
            Some(Constant::Values(set)) => of(&**set),
            None => return Err(Error::internal("a constant that was not made")),
        },
    })
}
