//! Which instruction set a kernel runs on: an explicit value, detected once.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

/// An instruction set kernels are written for, in ascending order of ability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// Portable Rust: the oracle.
    Scalar,
    /// 256-bit vectors (with BMI and POPCNT).
    Avx2,
    /// 512-bit vectors with masks and byte compress (F, BW, DQ, VL, VBMI, VBMI2).
    Avx512,
}

impl Isa {
    /// Every instruction set Frazil knows, whether this machine has it or not.
    pub const ALL: [Isa; 3] = [Isa::Scalar, Isa::Avx2, Isa::Avx512];

    /// The best one of this machine.
    #[inline]
    pub fn detect() -> Isa {
        static BEST: OnceLock<Isa> = OnceLock::new();
        *BEST.get_or_init(ask_the_machine)
    }

    /// Those this machine can run, the oracle first.
    pub fn available() -> Vec<Isa> {
        Isa::ALL.into_iter().filter(|&isa| isa <= Isa::detect()).collect()
    }

    /// This one, or the best of this machine if it cannot run this one. Kernels dispatch on it: that
    /// makes them safe for any argument.
    #[inline]
    pub fn effective(self) -> Isa {
        self.min(Isa::detect())
    }

    /// Its name in settings and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Isa::Scalar => "scalar",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Isa {
    type Err = String;

    fn from_str(text: &str) -> Result<Isa, String> {
        Isa::ALL
            .into_iter()
            .find(|isa| isa.name().eq_ignore_ascii_case(text))
            .ok_or_else(|| format!("unknown instruction set \"{text}\": use scalar, avx2 or avx512"))
    }
}

#[cfg(target_arch = "x86_64")]
fn ask_the_machine() -> Isa {
    use std::arch::is_x86_feature_detected as has;
    let avx2 = has!("avx2") && has!("bmi1") && has!("bmi2") && has!("popcnt") && has!("lzcnt");
    let foundation = has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
    let bytes = has!("avx512vbmi") && has!("avx512vbmi2");
    match (avx2, foundation && bytes) {
        (true, true) => Isa::Avx512,
        (true, false) => Isa::Avx2,
        _ => Isa::Scalar,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn ask_the_machine() -> Isa {
    Isa::Scalar
}

/// Runs the function of this name in the module of the instruction set, `otherwise` the oracle.
///
/// The instruction set must be an effective one: that makes it sound.
macro_rules! dispatch {
    ($isa:expr, $function:ident($($argument:expr),* $(,)?), otherwise $scalar:expr $(,)?) => {{
        debug_assert_eq!($isa, $crate::Isa::effective($isa));
        match $isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Isa::effective` has seen that the machine has AVX2 and BMI.
            $crate::Isa::Avx2 => unsafe { avx2::$function($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Isa::effective` has seen that the machine has these AVX-512 subsets.
            $crate::Isa::Avx512 => unsafe { avx512::$function($($argument),*) },
            _ => $scalar,
        }
    }};
}
pub(crate) use dispatch;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for isa in Isa::ALL {
            assert_eq!(isa.to_string().parse(), Ok(isa));
            assert!(isa.effective() <= Isa::detect());
        }
        assert!("sse9".parse::<Isa>().unwrap_err().contains("avx512"));
        assert_eq!(Isa::available()[0], Isa::Scalar);
    }
}
