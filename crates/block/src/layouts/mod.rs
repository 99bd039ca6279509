//! Layouts: codes ↔ bytes. A layout holds unsigned codes of k bits and knows nothing of values, as an
//! encoding knows nothing of bits: E encodings and L layouts are E + L files.
//!
//! Byte-packed codes are words of the machine, tested and fetched by the kernels of native values. The
//! other layouts hold codes of any width, 1 to 64 bits, and each has its kernels in one folder of
//! `frazil_kernels` with the same functions; [`codes`] is where a layout is resolved, once a call.

pub mod byte_packed;
pub(crate) mod codes;

use crate::format::corrupted;
use frazil_kernels::{bitpack, byteslice, hbp, packed, vbp};
use frazil_types::Result;
use std::fmt;

/// How codes lie in bytes. The number is the layout's id in the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Layout {
    /// There are no codes: constants, and raw values, which lie in their native form.
    None = 0,
    /// Unsigned integers of 1, 2, 4 or 8 bytes (Data Blocks, section 3.3).
    BytePacked = 1,
    /// Codes bit by bit, in an order that suits vectors (ByteSlice, section 2.1).
    BitPacked = 6,
    /// The bytes of a code apart, most significant first, so that a scan stops early (ByteSlice, section 3).
    ByteSlice = 3,
    /// The bits of a code apart, most significant first (vertical bit-parallel; ByteSlice, section 2.2).
    Vbp = 4,
    /// Codes side by side in words, each with a delimiter bit (horizontal bit-parallel; ByteSlice, section 2.3).
    Hbp = 5,
}

impl Layout {
    /// The layouts of codes.
    pub const ALL: [Layout; 5] = [
        Layout::BytePacked,
        Layout::BitPacked,
        Layout::ByteSlice,
        Layout::Vbp,
        Layout::Hbp,
    ];

    /// The layout of an id.
    pub fn from_id(id: u8) -> Result<Layout> {
        match id {
            0 => Ok(Layout::None),
            1 => Ok(Layout::BytePacked),
            3 => Ok(Layout::ByteSlice),
            4 => Ok(Layout::Vbp),
            5 => Ok(Layout::Hbp),
            6 => Ok(Layout::BitPacked),
            2 => Err(corrupted(
                "layout 2 is bit-packed codes in an order that was given up before the first release"
                    .to_string(),
            )),
            _ => Err(corrupted(format!("unknown layout {id}"))),
        }
    }

    /// Its name in options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Layout::None => "none",
            Layout::BytePacked => "byte-packed",
            Layout::BitPacked => "bit-packed",
            Layout::ByteSlice => "byteslice",
            Layout::Vbp => "vbp",
            Layout::Hbp => "hbp",
        }
    }

    /// The layout of a name; an error names those there are.
    pub fn parse(name: &str) -> Result<Layout> {
        crate::build_options::parse("layout", name, &Layout::ALL)
    }

    /// Whether its codes are of any width, and tested by windows that begin at multiples of 64 rows.
    pub fn is_packed(self) -> bool {
        !matches!(self, Layout::None | Layout::BytePacked)
    }

    /// Bits of a code when the largest is `largest`; 0 where there are no codes.
    ///
    /// Bit-packed codes that stand one behind the other, of 17 to 31 bits, are given an even number of
    /// bits: four of them then end with a byte, and eight are spread to lanes by one load and one shuffle. An odd bit
    /// saved, 3 to 6 % of the codes, costs a fifth of the speed of unpacking.
    pub fn code_bits(self, largest: u64) -> u32 {
        match (self, packed::bits_of(largest)) {
            (Layout::None, _) => 0,
            (Layout::BytePacked, _) => 8 * byte_packed::width(largest) as u32,
            (Layout::BitPacked, bits @ 17..=31) => bits.next_multiple_of(2),
            (_, bits) => bits,
        }
    }

    /// Whether new columns have codes of so many bits.
    pub(crate) fn writes_width(self, bits: u32) -> bool {
        self.has_width(bits) && self.code_bits(packed::top(bits)) == bits
    }

    /// Whether codes of so many bits can be read.
    pub(crate) fn has_width(self, bits: u32) -> bool {
        match self {
            Layout::None => bits == 0,
            Layout::BytePacked => matches!(bits, 8 | 16 | 32 | 64),
            _ => (1..=64).contains(&bits),
        }
    }

    /// Bytes of `rows` codes of `bits` bits.
    pub fn bytes(self, rows: usize, bits: u32) -> usize {
        match self {
            Layout::None => 0,
            Layout::BytePacked => rows * bits as usize / 8,
            Layout::BitPacked => bitpack::bytes(rows, bits),
            Layout::ByteSlice => byteslice::bytes(rows, bits),
            Layout::Vbp => vbp::bytes(rows, bits),
            Layout::Hbp => hbp::bytes(rows, bits),
        }
    }

    /// The bytes of codes that fit in `bits` bits.
    pub(crate) fn pack(self, codes: &[u64], bits: u32) -> Vec<u8> {
        let mut out = vec![0; self.bytes(codes.len(), bits)];
        match self {
            Layout::None => {}
            Layout::BytePacked => byte_packed::pack(codes, bits as usize / 8, &mut out),
            Layout::BitPacked => bitpack::pack(codes, bits, &mut out),
            Layout::ByteSlice => byteslice::pack(codes, bits, &mut out),
            Layout::Vbp => vbp::pack(codes, bits, &mut out),
            Layout::Hbp => hbp::pack(codes, bits, &mut out),
        }
        out
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_stand_one_behind_the_other_have_an_even_width() {
        for bits in 1..=64 {
            let stored = Layout::BitPacked.code_bits(packed::top(bits));
            let odd = (17..=31).contains(&bits) && bits % 2 == 1;
            assert_eq!(stored, bits + u32::from(odd));
            assert_eq!(Layout::BitPacked.writes_width(bits), !odd, "{bits}");
            assert!(Layout::BitPacked.has_width(bits), "{bits}");
            assert_eq!(Layout::ByteSlice.code_bits(packed::top(bits)), bits);
        }
    }

    #[test]
    fn ids_are_those_of_the_format_and_the_order_given_up_is_refused() {
        for layout in Layout::ALL {
            assert_eq!(Layout::from_id(layout as u8).expect("known"), layout);
        }
        for (id, reason) in [(2, "given up before the first release"), (7, "unknown layout 7")] {
            let error = Layout::from_id(id).expect_err("not a layout");
            assert!(error.to_string().contains(reason), "{error}");
        }
    }
}
