//! Trigonometry in degrees. As in PostgreSQL, angles whose values are known are exact: the sine of 30 degrees is a half.

use super::math::{doubles, pairs};
use crate::function::Function;
use crate::vector::{Output, Row};
use frazil_types::{Error, Result, SqlState};
use std::sync::LazyLock;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "acosd",
        overloads: &[doubles(|r, o| o.double(arc_cosine(within_one(r.double(0))?)))],
        description: "arc cosine, in degrees",
    },
    Function {
        name: "asind",
        overloads: &[doubles(|r, o| o.double(arc_sine(within_one(r.double(0))?)))],
        description: "arc sine, in degrees",
    },
    Function {
        name: "atan2d",
        overloads: &[pairs(|r, o| arc_tangent(r.double(0).atan2(r.double(1)), o))],
        description: "arc tangent of a quotient, in degrees",
    },
    Function {
        name: "atand",
        overloads: &[doubles(|r, o| arc_tangent(r.double(0).atan(), o))],
        description: "arc tangent, in degrees",
    },
    Function {
        name: "cosd",
        overloads: &[doubles(|r, o| o.double(cosine(finite(r.double(0))?)))],
        description: "cosine of degrees",
    },
    Function {
        name: "cotd",
        overloads: &[doubles(cotangent)],
        description: "cotangent of degrees",
    },
    Function {
        name: "sind",
        overloads: &[doubles(|r, o| o.double(sine(finite(r.double(0))?)))],
        description: "sine of degrees",
    },
    Function {
        name: "tand",
        overloads: &[doubles(tangent)],
        description: "tangent of degrees",
    },
];

fn out_of_range() -> Error {
    Error::new(SqlState::NUMERIC_OUT_OF_RANGE, "input is out of range")
}

fn finite(v: f64) -> Result<f64> {
    if v.is_infinite() {
        Err(out_of_range())
    } else {
        Ok(v)
    }
}

fn within_one(v: f64) -> Result<f64> {
    if v.abs() > 1.0 { Err(out_of_range()) } else { Ok(v) }
}

/// Values that the machine's functions give for known angles: what is divided by them is exact there.
struct Known {
    sine_of_30: f64,
    one_minus_cosine_of_60: f64,
    arc_sine_of_half: f64,
    arc_cosine_of_half: f64,
    arc_tangent_of_one: f64,
    tangent_of_45: f64,
    cotangent_of_45: f64,
}

static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    let mut known = Known {
        sine_of_30: 30_f64.to_radians().sin(),
        one_minus_cosine_of_60: 1.0 - 60_f64.to_radians().cos(),
        arc_sine_of_half: 0.5_f64.asin(),
        arc_cosine_of_half: 0.5_f64.acos(),
        arc_tangent_of_one: 1_f64.atan(),
        tangent_of_45: 1.0,
        cotangent_of_45: 1.0,
    };
    let (sine, cosine) = (quarter_sine(45.0, &known), quarter_cosine(45.0, &known));
    known.tangent_of_45 = sine / cosine;
    known.cotangent_of_45 = cosine / sine;
    known
});

/// The sine of up to 30 degrees.
fn small_sine(degrees: f64, known: &Known) -> f64 {
    degrees.to_radians().sin() / known.sine_of_30 / 2.0
}

/// The cosine of up to 60 degrees.
fn small_cosine(degrees: f64, known: &Known) -> f64 {
    1.0 - (1.0 - degrees.to_radians().cos()) / known.one_minus_cosine_of_60 / 2.0
}

/// The sine of 0 to 90 degrees.
fn quarter_sine(degrees: f64, known: &Known) -> f64 {
    match degrees <= 30.0 {
        true => small_sine(degrees, known),
        false => small_cosine(90.0 - degrees, known),
    }
}

/// The cosine of 0 to 90 degrees.
fn quarter_cosine(degrees: f64, known: &Known) -> f64 {
    match degrees <= 60.0 {
        true => small_cosine(degrees, known),
        false => small_sine(90.0 - degrees, known),
    }
}

/// An angle of 0 to 90 degrees with the sines and cosines of another one, but for their signs, which stand beside it.
fn in_quarter(degrees: f64) -> (f64, f64, f64) {
    let (mut angle, mut sine, mut cosine) = (degrees % 360.0, 1.0, 1.0);
    if angle < 0.0 {
        (angle, sine) = (-angle, -1.0);
    }
    if angle > 180.0 {
        (angle, sine) = (360.0 - angle, -sine);
    }
    if angle > 90.0 {
        (angle, cosine) = (180.0 - angle, -1.0);
    }
    (angle, sine, cosine)
}

fn sine(degrees: f64) -> f64 {
    let (angle, sign, _) = in_quarter(degrees);
    sign * quarter_sine(angle, &KNOWN)
}

fn cosine(degrees: f64) -> f64 {
    let (angle, _, sign) = in_quarter(degrees);
    sign * quarter_cosine(angle, &KNOWN)
}

fn tangent(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let (angle, sine, cosine) = in_quarter(finite(row.double(0))?);
    let quotient = quarter_sine(angle, &KNOWN) / quarter_cosine(angle, &KNOWN);
    // Adding 0 turns −0 into 0.
    out.double(sine * cosine * (quotient / KNOWN.tangent_of_45) + 0.0)
}

fn cotangent(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let (angle, sine, cosine) = in_quarter(finite(row.double(0))?);
    let quotient = quarter_cosine(angle, &KNOWN) / quarter_sine(angle, &KNOWN);
    out.double(sine * cosine * (quotient / KNOWN.cotangent_of_45) + 0.0)
}

/// The arc sine of 0 to 1.
fn quarter_arc_sine(v: f64) -> f64 {
    match v <= 0.5 {
        true => v.asin() / KNOWN.arc_sine_of_half * 30.0,
        false => 90.0 - v.acos() / KNOWN.arc_cosine_of_half * 60.0,
    }
}

fn arc_sine(v: f64) -> f64 {
    if v >= 0.0 {
        quarter_arc_sine(v)
    } else {
        -quarter_arc_sine(-v)
    }
}

fn arc_cosine(v: f64) -> f64 {
    match v {
        v if v < 0.0 => 90.0 + quarter_arc_sine(-v),
        v if v <= 0.5 => 90.0 - v.asin() / KNOWN.arc_sine_of_half * 30.0,
        v => v.acos() / KNOWN.arc_cosine_of_half * 60.0,
    }
}

fn arc_tangent(radians: f64, out: &mut Output) -> Result<()> {
    out.double(radians / KNOWN.arc_tangent_of_one * 45.0)
}
