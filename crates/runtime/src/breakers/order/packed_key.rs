//! A sort key as words hold it: its distance from the least value there is. Strings begin where they first differ.

use super::{Entry, WORD};
use crate::breakers::sorter::sorted_rows::{SortField, normalized, ordered_double};
use crate::row_layout::FieldPlace;
use frazil_types::string_ref::leading_bytes;
use frazil_types::{NativeType, StringRef};

/// Runs a block with `$word`, a function that gives the field of a live row as an integer of its order, as
/// [`normalized`] does. Returns false, and runs nothing, if the field has more than 64 bits.
macro_rules! dispatch_word {
    ($place:expr, $word:ident => $body:block) => {{
        let place = $place;
        macro_rules! with {
            ($type:ty, $value:ident => $normalized:expr) => {{
                let $word = |row: *const u8| -> u64 {
                    // SAFETY: the caller has live rows of the layout, whose field is of this type.
                    let $value = unsafe { place.get::<$type>(row) };
                    $normalized
                };
                $body
                true
            }};
        }
        match place.native {
            NativeType::Bool => with!(u8, v => u64::from(v)),
            NativeType::I16 => with!(i16, v => u64::from(v.cast_unsigned() ^ 1 << 15)),
            NativeType::I32 => with!(i32, v => u64::from(v.cast_unsigned() ^ 1 << 31)),
            NativeType::I64 => with!(i64, v => v.cast_unsigned() ^ 1 << 63),
            NativeType::F64 => with!(f64, v => ordered_double(v)),
            NativeType::I128 | NativeType::String => false,
        }
    }};
}

/// Bounds of the values of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Least and greatest value as [`normalized`] gives them; those of strings are in `strings`.
    least: u128,
    greatest: u128,
    has_null: bool,
    has_value: bool,
    strings: Option<StringExtent>,
}

/// Bounds of the strings of a key.
#[derive(Clone, Copy, Debug)]
struct StringExtent {
    least: StringRef,
    greatest: StringRef,
    /// Bytes of the longest string.
    longest: usize,
    /// True if the last byte of some string is 0.
    ends_in_zero: bool,
}

impl StringExtent {
    /// # Safety
    /// The string must be alive.
    unsafe fn of(string: StringRef) -> StringExtent {
        StringExtent {
            least: string,
            greatest: string,
            longest: string.len(),
            // SAFETY: by contract.
            ends_in_zero: unsafe { string.bytes() }.last() == Some(&0),
        }
    }

    /// # Safety
    /// The strings of both must be alive.
    unsafe fn and(self, other: StringExtent) -> StringExtent {
        // SAFETY: by contract.
        let (is_less, is_greater) = unsafe {
            (
                other.least.compare(self.least).is_lt(),
                other.greatest.compare(self.greatest).is_gt(),
            )
        };
        StringExtent {
            least: if is_less { other.least } else { self.least },
            greatest: if is_greater { other.greatest } else { self.greatest },
            longest: self.longest.max(other.longest),
            ends_in_zero: self.ends_in_zero | other.ends_in_zero,
        }
    }
}

impl Extent {
    pub const NOTHING: Extent = Extent {
        least: u128::MAX,
        greatest: 0,
        has_null: false,
        has_value: false,
        strings: None,
    };

    /// # Safety
    /// The strings of both must be alive.
    pub unsafe fn and(self, other: Extent) -> Extent {
        let strings = match (self.strings, other.strings) {
            // SAFETY: by contract.
            (Some(strings), Some(others)) => Some(unsafe { strings.and(others) }),
            (strings, others) => strings.or(others),
        };
        Extent {
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
            has_null: self.has_null | other.has_null,
            has_value: self.has_value | other.has_value,
            strings,
        }
    }

    /// # Safety
    /// Live rows of the layout that the place is of, their strings alive.
    pub unsafe fn of(place: &FieldPlace, entries: &[Entry]) -> Extent {
        let mut found = Extent::NOTHING;
        let are_words = dispatch_word!(place, word => {
            let (mut least, mut greatest) = (u64::MAX, 0);
            for entry in entries {
                // SAFETY: by contract.
                if unsafe { place.is_valid(entry.row) } {
                    let word = word(entry.row);
                    (least, greatest) = (least.min(word), greatest.max(word));
                } else {
                    found.has_null = true;
                }
            }
            if least <= greatest {
                (found.least, found.greatest) = (least.into(), greatest.into());
            }
        });
        if !are_words {
            // SAFETY: by contract.
            unsafe { found.widen(place, entries) };
        }
        found.has_value = found.least <= found.greatest || found.strings.is_some();
        found
    }

    /// Takes up strings, or numbers of 128 bits.
    ///
    /// # Safety
    /// Live rows of the layout that the place is of, their strings alive.
    unsafe fn widen(&mut self, place: &FieldPlace, entries: &[Entry]) {
        for entry in entries {
            // SAFETY: by contract.
            unsafe {
                if !place.is_valid(entry.row) {
                    self.has_null = true;
                    continue;
                }
                if place.native == NativeType::String {
                    let string = StringExtent::of(place.get::<StringRef>(entry.row));
                    self.strings = Some(self.strings.map_or(string, |strings| strings.and(string)));
                    continue;
                }
                let (bits, _) = normalized(place, entry.row);
                self.least = self.least.min(bits);
                self.greatest = self.greatest.max(bits);
            }
        }
    }
}

/// The bytes of strings that are packed: those behind the ones that all strings begin with.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// Bytes that all strings have in common.
    skipped: usize,
    /// Bytes behind them that are packed, at most 16. Shorter strings are padded by zeros.
    kept: usize,
}

impl Cut {
    /// # Safety
    /// The strings must be alive.
    unsafe fn of(strings: &StringExtent) -> Cut {
        // SAFETY: by contract.
        let (least, greatest) = unsafe { (strings.least.bytes(), strings.greatest.bytes()) };
        // Every string between the two begins with what both begin with.
        let skipped = least.iter().zip(greatest).take_while(|(a, b)| a == b).count();
        Cut {
            skipped,
            kept: (strings.longest - skipped).min(16),
        }
    }

    /// The packed bytes of a string as an integer of their order.
    fn value(self, bytes: &[u8]) -> u128 {
        let rest = bytes.get(self.skipped..).unwrap_or_default();
        let unused = 8 * (16 - self.kept as u32);
        leading_bytes(rest).checked_shr(unused).unwrap_or(0)
    }
}

/// A key as it is packed.
#[derive(Clone, Debug)]
pub(super) struct PackedKey {
    pub field: SortField,
    pub place: FieldPlace,
    pub least: u128,
    pub greatest: u128,
    /// For strings, the bytes that are packed.
    cut: Option<Cut>,
    /// Bits of the distance from the least value, and one where NULL is told from values.
    pub value_bits: u32,
    pub null_bits: u32,
    /// True if equal bits are equal values.
    pub is_exact: bool,
}

impl PackedKey {
    /// # Safety
    /// The strings of the extent must be alive.
    pub unsafe fn new(field: SortField, place: FieldPlace, extent: Extent) -> PackedKey {
        let mut key = PackedKey {
            field,
            place,
            least: 0,
            greatest: 0,
            cut: None,
            value_bits: 0,
            null_bits: u32::from(extent.has_null),
            is_exact: true,
        };
        if let Some(strings) = &extent.strings {
            // SAFETY: by contract.
            unsafe {
                let cut = Cut::of(strings);
                key.cut = Some(cut);
                (key.least, key.greatest) = (
                    cut.value(strings.least.bytes()),
                    cut.value(strings.greatest.bytes()),
                );
                // No string ends in a zero here, so bytes with zeros behind them are those of one string.
                key.is_exact = strings.longest - cut.skipped <= cut.kept && !strings.ends_in_zero;
            }
        } else if extent.has_value {
            (key.least, key.greatest) = (extent.least, extent.greatest);
        }
        key.value_bits = 128 - (key.greatest - key.least).leading_zeros();
        key
    }

    /// Makes the key one whose words hold nothing.
    pub fn unpacked(self) -> PackedKey {
        PackedKey {
            value_bits: 0,
            null_bits: 0,
            is_exact: false,
            ..self
        }
    }

    pub fn bits(&self) -> u32 {
        self.value_bits + self.null_bits
    }

    /// The value of a row, which is not NULL, as an integer of its order.
    ///
    /// # Safety
    /// A live row of the layout, its strings alive.
    pub unsafe fn value(&self, row: *const u8) -> u128 {
        // SAFETY: by contract; the type is the field's.
        unsafe {
            match self.cut {
                Some(cut) => cut.value(self.place.get::<StringRef>(row).bytes()),
                None => normalized(&self.place, row).0,
            }
        }
    }

    /// Writes the key into the words of entries, whose lowest `free` bits are 0: it takes the highest of these.
    ///
    /// # Safety
    /// Live rows of the layout, their strings alive.
    pub unsafe fn pack(&self, entries: &mut [Entry], free: u32) {
        let bits = self.bits();
        if bits == 0 {
            return;
        }
        let (least, greatest) = (self.least as u64, self.greatest as u64);
        let is_narrow = bits <= free && self.cut.is_none();
        let is_packed = is_narrow
            && dispatch_word!(&self.place, word => {
                let shift = free - bits;
                for entry in &mut *entries {
                    // SAFETY: by contract.
                    let valid = self.null_bits == 0 || unsafe { self.place.is_valid(entry.row) };
                    let distance = match (valid, self.field.descending) {
                        (true, false) => word(entry.row) - least,
                        (true, true) => greatest - word(entry.row),
                        (false, _) => 0,
                    };
                    let null = match self.null_bits {
                        0 => 0,
                        _ => u64::from(valid == self.field.nulls_first) << self.value_bits,
                    };
                    entry.key |= (null | distance) << shift;
                }
            });
        if !is_packed {
            for entry in entries {
                // SAFETY: by contract.
                entry.key |= unsafe { self.highest_bits(entry.row, free) };
            }
        }
    }

    /// The highest bits of the key of a row, as the highest of the `free` lowest bits of a word.
    ///
    /// # Safety
    /// As [`PackedKey::pack`].
    unsafe fn highest_bits(&self, row: *const u8, mut free: u32) -> u64 {
        let mut word = 0;
        let mut push = |bits: u128, width: u32| {
            let taken = width.min(free);
            if taken > 0 {
                word |= ((bits >> (width - taken)) as u64) << (free - taken);
                free -= taken;
            }
        };
        // SAFETY: by contract.
        let valid = unsafe { self.place.is_valid(row) };
        if self.null_bits > 0 {
            push(u128::from(valid == self.field.nulls_first), 1);
        }
        let distance = match valid {
            // SAFETY: by contract.
            true => match (unsafe { self.value(row) }, self.field.descending) {
                (bits, false) => bits - self.least,
                (bits, true) => self.greatest - bits,
            },
            false => 0,
        };
        push(distance, self.value_bits);
        word
    }
}

/// Entries whose words are made key by key: their rows stay in the first-level cache meanwhile.
const PACKED_AT_ONCE: usize = 512;

/// Writes the words of entries: keys from the highest bit down.
///
/// # Safety
/// Live rows of the layout that the keys are of, their strings alive.
pub(super) unsafe fn pack_words(keys: &[PackedKey], entries: &mut [Entry]) {
    for entries in entries.chunks_mut(PACKED_AT_ONCE) {
        entries.iter_mut().for_each(|entry| entry.key = 0);
        let mut free = WORD;
        for key in keys {
            if free == 0 {
                break;
            }
            // SAFETY: by contract.
            unsafe { key.pack(entries, free) };
            free -= key.bits().min(free);
        }
    }
}
