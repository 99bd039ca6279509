//! Horizontally packed codes on 256-bit vectors, two to a vector of the format.

use super::{matches, rows};
use crate::compare::avx2::Lanes;
use crate::{CodeWord, Combine, Isa, Packed, RangeOp, Selection};
use std::ops::Range;

super::instantiate!(Isa::Avx2, "avx2,bmi1,bmi2,lzcnt,popcnt");
