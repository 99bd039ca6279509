//! Plans of several functions, compiled and run in a process that has much mapped: the functions find each other.
#![cfg(target_os = "linux")]

mod support;

use frazil_codegen::{CompileOptions, compile};
use frazil_plan::operators::Map;
use frazil_plan::pipeline::{PipelinePlan, StagePolicy};
use frazil_plan::pipeline_builder::build;
use frazil_plan::{ArithmeticOp, Expr, ExprKind, Operator};
use frazil_testkit::Random;
use frazil_types::{LogicalType, Value};
use std::ptr::{null_mut, without_provenance_mut};
use support::{Few, Maker, int, run};

const PAGE: usize = 4096;
const INT: LogicalType = LogicalType::Integer;

/// Addresses that are taken.
struct Mapped {
    from: usize,
    end: usize,
}

impl Mapped {
    fn new(bytes: usize) -> Mapped {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: the system chooses addresses where nothing is mapped.
        let address = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
        assert_ne!(address, libc::MAP_FAILED);
        let from = address.addr();
        let end = from + bytes;
        Mapped { from, end }
    }

    /// Leaves a hole at the end, below a page that stays.
    fn hole(&mut self, pages: usize) {
        self.end -= (pages + 1) * PAGE;
        assert!(self.from < self.end);
        // SAFETY: these pages are this mapping's own, and nothing can read them.
        let unmapped = unsafe { libc::munmap(without_provenance_mut(self.end), pages * PAGE) };
        assert_eq!(unmapped, 0);
    }
}

/// A plan of a few functions of different lengths, which give 192 and 193: each Map is a stage.
fn plan() -> PipelinePlan {
    let mut m = Maker::default();
    let (mut op, columns) = m.values(&[INT], &[vec![Value::Int(1)], vec![Value::Int(2)]]);
    let mut last = columns[0];
    for maps in [10, 60, 1, 90, 30] {
        let mut expressions = Vec::new();
        for _ in 0..maps {
            let (l, r) = (Box::new(m.column(last)), Box::new(int(1, INT)));
            last = m.add(INT, false);
            let sum = Expr::new(ExprKind::Arithmetic(ArithmeticOp::Add, l, r), INT, false);
            expressions.push((last, sum));
        }
        let input = Box::new(op);
        op = Operator::Map(Map { input, expressions });
    }
    build(m.plan(op, &[last]), &Few)
}

#[test]
fn functions_find_each_other_beside_6_gib_and_holes_of_few_pages() {
    let plan = plan();
    // New mappings take the highest hole that is large enough: above 6 GiB while there are such, else below. All that are
    // there at first are filled.
    let mut above = Mapped::new(12_000 * PAGE);
    let between = Mapped::new(6 << 30);
    for bytes in [1 << 20, PAGE] {
        while Mapped::new(bytes).from > between.from {}
    }
    let mut random = Random::new(20);
    for _ in 0..1_000 {
        for _ in 0..random.below(3) {
            above.hole(1 + random.index(3));
        }
        let rows = run(&plan, StagePolicy::Staged, 1).unwrap();
        assert_eq!(rows, [[Value::Int(192)], [Value::Int(193)]]);
    }
}

#[test]
fn no_page_is_writable_and_executable() {
    let _code = compile(&plan(), &CompileOptions::default(), &|_| None).unwrap();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert!(maps.contains("r-xp") && !maps.contains("wx"), "{maps}");
}
