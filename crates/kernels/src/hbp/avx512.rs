//! Horizontally packed codes on 512-bit vectors.

use super::{matches, rows};
use crate::compare::avx512::Lanes;
use crate::{CodeWord, Combine, Isa, Packed, RangeOp, Selection};
use std::ops::Range;

super::instantiate!(
    Isa::Avx512,
    "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt"
);
