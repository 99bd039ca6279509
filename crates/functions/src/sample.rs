//! TABLESAMPLE: whether a row is in a sample. A hash of the seed and the row's id decides, so that the same seed
//! takes the same rows as long as the table stays as it is.

use crate::build::{boolean, constant_of};
use crate::typing::HiddenParameter;
use crate::vector::{OnNull, Output, Row, RowFn, rows};
use crate::{CastContext, Operand, Typing};
use frazil_plan::{COUNT, Expr};
use frazil_types::{Error, Result, RowId, Span, SqlState, Value};

/// Rows, by their ids, that SYSTEM takes together: as many bits.
const TOGETHER: u32 = 7;

/// How rows are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleMethod {
    /// BERNOULLI: each by itself.
    Bernoulli,
    /// SYSTEM: those that lie together, together.
    System,
}

impl Typing {
    /// Whether the row of an id is in a sample of `percentage`. `seed` is what REPEATABLE says. 2202H, 2202G.
    pub fn sampled(
        &self,
        method: SampleMethod,
        row_id: Expr,
        percentage: Operand,
        seed: Option<Operand>,
        span: Span,
    ) -> Result<Expr> {
        let double =
            |x: Operand| self.cast(x, HiddenParameter::Seed.ty(), CastContext::Assignment, Span::NONE);
        let percentage = double(percentage)?;
        let (seed, salt) = match seed {
            Some(seed) => (double(seed)?, 0),
            // Samples of a statement differ.
            None => (self.hidden(HiddenParameter::Seed), i128::from(span.start) + 1),
        };
        for (e, check) in [(&percentage, check_percentage as fn(_) -> _), (&seed, check_seed)] {
            match constant_of(e) {
                Some(Value::Double(x)) => check(Some(*x)),
                Some(Value::Null) => check(None),
                _ => Ok(()),
            }
            .map_err(|error: Error| error.at_span(e.span).at_span(span))?;
        }
        let (name, run): (_, RowFn) = match method {
            SampleMethod::Bernoulli => ("bernoulli", |row, out| sampled(row, 0, out)),
            SampleMethod::System => ("system", |row, out| sampled(row, TOGETHER, out)),
        };
        let salt = Expr::constant(Value::Int(salt), COUNT);
        let arguments = vec![row_id, percentage, seed, salt];
        let truth = boolean(true).ty;
        let sampled = rows(name, OnNull::Called, run, arguments, truth);
        Ok(sampled.at(span))
    }
}

fn check_percentage(percentage: Option<f64>) -> Result<()> {
    let message = match percentage {
        Some(p) if (0.0..=100.0).contains(&p) => return Ok(()),
        Some(_) => "sample percentage must be between 0 and 100",
        None => "TABLESAMPLE parameter cannot be null",
    };
    Err(Error::new(SqlState::INVALID_SAMPLE_ARGUMENT, message))
}

fn check_seed(seed: Option<f64>) -> Result<()> {
    let message = "TABLESAMPLE REPEATABLE parameter cannot be null";
    match seed {
        Some(_) => Ok(()),
        None => Err(Error::new(SqlState::INVALID_SAMPLE_REPEAT, message)),
    }
}

fn sampled(row: &Row<'_>, together: u32, out: &mut Output<'_>) -> Result<()> {
    let double = |argument: usize| (!row.is_null(argument)).then(|| row.double(argument));
    check_percentage(double(1))?;
    check_seed(double(2))?;
    let seed = mixed(row.double(2).to_bits() ^ (row.int(3) as u64).rotate_left(32));
    let hash = mixed(seed ^ (RowId::from_tid(row.int(0)).0 >> together)) >> 32;
    let most = (row.double(1) / 100.0 * (1u64 << 32) as f64).round() as u64;
    out.bool(hash < most)
}

/// Sebastiano Vigna's finalizer of SplitMix64.
fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
