//! Functions on strings. Those that only cut return a reference into their argument's bytes, with its
//! transient mark; those that make bytes keep them in the context's scratch.

use crate::abi::{PipelineContext, STATUS_FAILED, STATUS_OK};
use crate::functions::ascii;
use frazil_kernels::LikePattern;
use frazil_kernels::hash::fold_string;
use frazil_types::string_ref::INLINE_BYTES;
use frazil_types::{LogicalType, StringRef, value_ops};
use memchr::memmem::Finder;

/// Items of [`each`] between two questions whether the statement goes on: less than a millisecond of work.
const ITEMS_AT_ONCE: usize = 1 << 16;

type Text = *const StringRef;
type TextOut = *mut StringRef;

/// Order of two strings, each given by the words of its reference.
///
/// # Safety
/// The strings must be alive.
pub unsafe fn string_compare(a_head: u64, a_tail: u64, b_head: u64, b_tail: u64) -> i32 {
    // SAFETY: by contract.
    unsafe { of_words(a_head, a_tail).compare(of_words(b_head, b_tail)) as i32 }
}

/// 1 if two strings, each given by the words of its reference, have equal bytes.
///
/// # Safety
/// As [`string_compare`].
pub unsafe fn string_equal(a_head: u64, a_tail: u64, b_head: u64, b_tail: u64) -> i32 {
    // SAFETY: by contract.
    i32::from(unsafe { of_words(a_head, a_tail).equal(of_words(b_head, b_tail)) })
}

/// `hash` with a string folded in, which is given by the words of its reference.
///
/// # Safety
/// As [`string_compare`].
pub unsafe fn string_hash(hash: u64, head: u64, tail: u64) -> u64 {
    // SAFETY: by contract.
    unsafe { fold_string(hash, of_words(head, tail)) }
}

fn of_words(head: u64, tail: u64) -> StringRef {
    StringRef { head, tail }
}

/// # Safety
/// As [`string_compare`].
pub unsafe fn like(pattern: *const LikePattern, string: Text) -> i32 {
    // SAFETY: by contract.
    unsafe { i32::from((*pattern).matches(string.read_unaligned().bytes())) }
}

/// Characters of a string, which is given by the words of its reference.
///
/// # Safety
/// As [`string_compare`].
pub unsafe fn string_length(head: u64, tail: u64) -> i64 {
    let string = of_words(head, tail);
    // SAFETY: by contract.
    unsafe {
        match ascii::is_ascii(string) {
            true => string.len() as i64,
            false => string.text().chars().count() as i64,
        }
    }
}

/// The bytes `from..to` of a string, as a reference into it.
///
/// # Safety
/// The string must be alive, the range within it, and at character boundaries.
unsafe fn slice(of: &StringRef, from: usize, to: usize) -> StringRef {
    // SAFETY: by contract. A part longer than an inline string is of a string that is not inline, so
    // its bytes do not lie in `of` itself.
    unsafe {
        let bytes = &of.bytes()[from..to];
        if bytes.len() <= INLINE_BYTES {
            return StringRef::inline(bytes);
        }
        let part = StringRef::new(bytes);
        if of.is_transient() {
            part.as_transient()
        } else {
            part
        }
    }
}

/// Where character `n` (from 0) of a text begins; its end where it has fewer.
fn byte_of_character(text: &str, n: u64) -> usize {
    const PIECE: usize = 4 << 10;
    let mut left = usize::try_from(n).unwrap_or(usize::MAX);
    let begins = |byte: &u8| *byte as i8 >= -0x40;
    let mut before = 0;
    for piece in text.as_bytes().chunks(PIECE) {
        let characters = piece.iter().filter(|byte| begins(byte)).count();
        if characters > left {
            let first = piece
                .iter()
                .enumerate()
                .filter(|(_, byte)| begins(byte))
                .nth(left);
            return before + first.map_or(0, |(at, _)| at);
        }
        left -= characters;
        before += piece.len();
    }
    text.len()
}

/// # Safety
/// As [`string_compare`]; `out` must be valid for a write.
pub unsafe fn substring(string: Text, start: i64, length: i64, out: TextOut) -> u32 {
    if length < 0 {
        return STATUS_FAILED;
    }
    // Characters before the first count towards the length.
    let end = start.saturating_add(length).max(1) as u64 - 1;
    let begin = (start.max(1) as u64 - 1).min(end);
    // SAFETY: by contract; both ends are at character boundaries, in order.
    unsafe {
        let string = string.read_unaligned();
        let len = string.len() as u64;
        // Only characters in front of the end shift what is behind them.
        let (from, to) = match ascii::are_ascii(&string.bytes()[..end.min(len) as usize]) {
            true => (begin.min(len) as usize, end.min(len) as usize),
            false => {
                let text = string.text();
                (byte_of_character(text, begin), byte_of_character(text, end))
            }
        };
        out.write_unaligned(slice(&string, from, to));
    }
    STATUS_OK
}

/// # Safety
/// As [`substring`]; `context` must be the pipeline's.
pub unsafe fn fit_text(context: *mut PipelineContext, string: Text, ty: u64, out: TextOut) -> u32 {
    // SAFETY: by contract. What is kept begins where the string does, and ends at a character.
    unsafe {
        let string = string.read_unaligned();
        match LogicalType::of_code(ty).and_then(|ty| value_ops::kept_text(string.text(), ty)) {
            Ok(kept) => {
                out.write_unaligned(slice(&string, 0, kept.len()));
                STATUS_OK
            }
            Err(error) => (*context).fail(error),
        }
    }
}

/// # Safety
/// As [`substring`].
pub unsafe fn trim(string: Text, characters: Text, sides: u32, out: TextOut) {
    // SAFETY: by contract; trimming keeps character boundaries.
    unsafe {
        let (string, characters) = (string.read_unaligned(), characters.read_unaligned());
        let (text, characters) = (string.text(), characters.text());
        // Few characters are ASCII's, and most texts have no other at their ends.
        let mut ascii = [false; 128];
        (characters.bytes().filter(u8::is_ascii)).for_each(|byte| ascii[usize::from(byte)] = true);
        let dropped = |c: char| match ascii.get(c as usize) {
            Some(dropped) => *dropped,
            None => characters.contains(c),
        };
        let mut kept = text;
        if sides & 1 != 0 {
            kept = kept.trim_start_matches(dropped);
        }
        if sides & 2 != 0 {
            kept = kept.trim_end_matches(dropped);
        }
        let from = kept.as_ptr() as usize - text.as_ptr() as usize;
        out.write_unaligned(slice(&string, from, from + kept.len()));
    }
}

/// # Safety
/// As [`string_compare`].
pub unsafe fn position(string: Text, part: Text) -> i64 {
    // SAFETY: by contract.
    unsafe {
        let (string, part) = (string.read_unaligned(), part.read_unaligned());
        let text = string.text();
        memchr::memmem::find(text.as_bytes(), part.bytes())
            .map_or(0, |at| text[..at].chars().count() as i64 + 1)
    }
}

/// Keeps a new string. Fails with 54000 and 53200 as [`Scratch::allocate`](crate::abi::Scratch::allocate).
///
/// # Safety
/// `context` must be the pipeline's, `out` valid for a write.
pub(super) unsafe fn put(context: *mut PipelineContext, bytes: &[u8], out: TextOut) -> u32 {
    // SAFETY: by contract.
    unsafe {
        match (*(*context).scratch).keep(bytes) {
            Ok(string) => {
                out.write_unaligned(string);
                STATUS_OK
            }
            Err(error) => (*context).fail(error),
        }
    }
}

/// Room in the scratch for a string of `len` bytes that is not held inline, or a status.
///
/// # Safety
/// `context` must be the pipeline's; the room is used before another string is put into the scratch.
unsafe fn room<'a>(context: *mut PipelineContext, len: usize) -> Result<&'a mut [u8], u32> {
    // SAFETY: by contract.
    unsafe {
        let room = (*(*context).scratch).allocate(len);
        room.map_err(|error| (*context).fail(error))
    }
}

/// Hands items over one by one. Fails with 57014 once the statement is to end, which is asked now and then: a text may
/// have hundreds of millions of characters.
///
/// # Safety
/// `context` must be the pipeline's.
unsafe fn each<T>(
    context: *mut PipelineContext,
    items: impl Iterator<Item = T>,
    mut take: impl FnMut(T),
) -> Result<(), u32> {
    for (at, item) in items.enumerate() {
        if at % ITEMS_AT_ONCE == ITEMS_AT_ONCE - 1 {
            // SAFETY: by contract.
            unsafe {
                (*(*context).scratch)
                    .check()
                    .map_err(|error| (*context).fail(error))?
            };
        }
        take(item);
    }
    Ok(())
}

/// Makes a string of `len` bytes, all of which `fill` writes, and which are UTF-8 then.
///
/// # Safety
/// As [`put`]; `fill` puts no string into the scratch.
unsafe fn made(
    context: *mut PipelineContext,
    len: usize,
    out: TextOut,
    fill: impl FnOnce(&mut [u8]) -> Result<(), u32>,
) -> u32 {
    let mut short = [0; INLINE_BYTES];
    // SAFETY: by contract. What was made is alive as long as the scratch's strings, which is what its mark says.
    let string = unsafe {
        match short.get_mut(..len) {
            Some(short) => fill(short).map(|()| StringRef::inline(short)),
            None => room(context, len).and_then(|room| {
                fill(room)?;
                Ok(StringRef::new(room).as_transient())
            }),
        }
    };
    match string {
        Ok(string) => {
            // SAFETY: by contract.
            unsafe { out.write_unaligned(string) };
            STATUS_OK
        }
        Err(status) => status,
    }
}

/// Makes a string of a text's characters, each mapped to some.
///
/// # Safety
/// As [`put`]; the string must be alive.
unsafe fn mapped<I: Iterator<Item = char>>(
    context: *mut PipelineContext,
    string: StringRef,
    out: TextOut,
    map: impl Fn(char) -> I,
) -> u32 {
    // SAFETY: by contract. The room is filled to its length with whole characters.
    unsafe {
        let text = string.text();
        let mut len = 0;
        let count = |c: char| len += c.len_utf8();
        if let Err(status) = each(context, text.chars().flat_map(&map), count) {
            return status;
        }
        made(context, len, out, |to| {
            let mut at = 0;
            each(context, text.chars().flat_map(&map), |c| {
                at += c.encode_utf8(&mut to[at..]).len();
            })
        })
    }
}

/// Makes a string of ASCII from one, eight bytes at a time.
///
/// # Safety
/// As [`mapped`]; the string is ASCII, and what `map` makes of ASCII is.
#[inline(always)]
unsafe fn mapped_ascii(
    context: *mut PipelineContext,
    string: StringRef,
    out: TextOut,
    map: impl Fn(u64) -> u64,
) -> u32 {
    if string.is_inline() {
        // SAFETY: by contract.
        unsafe { out.write_unaligned(ascii::mapped_inline(string, map)) };
        return STATUS_OK;
    }
    // SAFETY: by contract. What was made is alive as long as the scratch's strings, which is what its mark says.
    unsafe {
        match room(context, string.len()) {
            Ok(room) => {
                ascii::map_words(string.bytes(), room, map);
                out.write_unaligned(StringRef::new(room).as_transient());
                STATUS_OK
            }
            Err(status) => status,
        }
    }
}

/// # Safety
/// As [`substring`]; `context` must be the pipeline's.
pub unsafe fn lower(context: *mut PipelineContext, string: Text, out: TextOut) -> u32 {
    // SAFETY: by contract.
    unsafe {
        let string = string.read_unaligned();
        if ascii::is_ascii(string) {
            return mapped_ascii(context, string, out, ascii::lower);
        }
        if string.text().contains('Σ') {
            // The only letter whose lower case depends on where it stands.
            return lower_sigma(context, string, out);
        }
        mapped(context, string, out, char::to_lowercase)
    }
}

/// # Safety
/// As [`lower`].
#[cold]
unsafe fn lower_sigma(context: *mut PipelineContext, string: StringRef, out: TextOut) -> u32 {
    // SAFETY: by contract. Lower case takes at most three times the bytes, held for the call.
    unsafe {
        let reserved = (*(*context).scratch).reserve(3 * string.len());
        match reserved {
            Ok(_held) => put(context, string.text().to_lowercase().as_bytes(), out),
            Err(error) => (*context).fail(error),
        }
    }
}

/// # Safety
/// As [`lower`].
pub unsafe fn upper(context: *mut PipelineContext, string: Text, out: TextOut) -> u32 {
    // SAFETY: by contract.
    unsafe {
        let string = string.read_unaligned();
        match ascii::is_ascii(string) {
            true => mapped_ascii(context, string, out, ascii::upper),
            false => mapped(context, string, out, char::to_uppercase),
        }
    }
}

/// # Safety
/// As [`lower`]; `parts` is the first of `count` strings side by side.
pub unsafe fn concat(context: *mut PipelineContext, parts: Text, count: u64, out: TextOut) -> u32 {
    // SAFETY: by contract there are so many parts.
    let parts = || (0..count as usize).map(|at| unsafe { parts.add(at).read_unaligned() });
    let len: usize = parts().map(|part| part.len()).sum();
    let fill = |mut room: &mut [u8]| {
        for part in parts() {
            let (place, rest) = room.split_at_mut(part.len());
            // SAFETY: by contract its bytes are alive.
            place.copy_from_slice(unsafe { part.bytes() });
            room = rest;
        }
        Ok(())
    };
    // SAFETY: by contract; scratch room does not overlap what was kept before.
    unsafe { made(context, len, out, fill) }
}

/// # Safety
/// As [`lower`].
pub unsafe fn replace(
    context: *mut PipelineContext,
    string: Text,
    from: Text,
    to: Text,
    out: TextOut,
) -> u32 {
    // SAFETY: by contract.
    unsafe {
        let (string, from, to) = (
            string.read_unaligned(),
            from.read_unaligned(),
            to.read_unaligned(),
        );
        if from.len() == 0 {
            out.write_unaligned(string);
            return STATUS_OK;
        }
        let (text, from, to) = (string.bytes(), Finder::new(from.bytes()), to.bytes());
        let mut found = 0;
        if let Err(status) = each(context, from.find_iter(text), |_| found += 1) {
            return status;
        }
        if found == 0 {
            out.write_unaligned(string);
            return STATUS_OK;
        }
        let cut = found * from.needle().len();
        let len = (text.len() - cut).saturating_add(found.saturating_mul(to.len()));
        made(context, len, out, |mut room| {
            let mut put = |piece: &[u8]| {
                let (place, rest) = std::mem::take(&mut room).split_at_mut(piece.len());
                place.copy_from_slice(piece);
                room = rest;
            };
            let mut copied = 0;
            each(context, from.find_iter(text), |at| {
                put(&text[copied..at]);
                put(to);
                copied = at + from.needle().len();
            })?;
            put(&text[copied..]);
            Ok(())
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::abi::{ErrorSlot, Partitions, Scratch};
    use frazil_types::{Cancel, MemoryBudget};

    /// Runs `f` with a context to make strings in.
    pub fn context<T>(f: impl FnOnce(*mut PipelineContext) -> T) -> T {
        context_under(&Cancel::new(), f)
    }

    fn context_under<T>(cancel: &Cancel, f: impl FnOnce(*mut PipelineContext) -> T) -> T {
        let mut scratch = Scratch::new(&MemoryBudget::unlimited(), cancel);
        let mut context = PipelineContext {
            source: std::ptr::null(),
            partitions: Partitions::SIDE_BY_SIDE,
            parameters: std::ptr::null(),
            objects: std::ptr::null(),
            stage_memory: std::ptr::null_mut(),
            cancel: std::ptr::null(),
            scratch: &mut scratch,
            error: ErrorSlot {
                point: 0,
                error: None,
            },
            drain: 0,
            handed_rows: 0,
            handed_room: 0,
        };
        f(&mut context)
    }

    /// The text a function makes, or the SQLSTATE of its error.
    pub fn made(f: impl FnOnce(*mut PipelineContext, TextOut) -> u32) -> Result<String, String> {
        context(|context| {
            let mut out = StringRef::default();
            let status = f(context, &mut out);
            // SAFETY: the context is alive, and so is the string.
            unsafe {
                match status {
                    STATUS_OK => Ok(out.text().to_owned()),
                    _ => Err((*context)
                        .error
                        .error
                        .take()
                        .map_or(String::new(), |e| e.state().0.to_owned())),
                }
            }
        })
    }

    fn cut(f: impl FnOnce(TextOut) -> u32) -> Result<String, String> {
        made(|_, out| f(out))
    }

    fn s(text: &'static str) -> StringRef {
        StringRef::from_static(text)
    }

    #[test]
    fn characters_are_found_in_texts_of_any_length() {
        let text = "aüb\u{1F600}".repeat(3_000);
        let starts: Vec<usize> = text.char_indices().map(|c| c.0).collect();
        for n in [0, 1, 2, 3, 4, 1_000, 2_047, 4_095, 4_096, 11_998, 11_999] {
            assert_eq!(byte_of_character(&text, n as u64), starts[n]);
        }
        for n in [12_000, u64::MAX] {
            assert_eq!(byte_of_character(&text, n), text.len());
        }
    }

    #[test]
    fn substring_counts_characters() {
        let cases = [
            ("thomas", 2, 3, "hom"),
            ("thomas", 0, 3, "th"),
            ("thomas", -5, 3, ""),
            ("thomas", 3, i64::MAX, "omas"),
            ("thomas", i64::MIN, i64::MAX, ""),
            ("thomas", 10, 5, ""),
            ("größer als alle anderen", 3, 3, "öße"),
            ("a text that is longer than inline", 3, 20, "text that is longer "),
        ];
        for (text, start, length, expected) in cases {
            // SAFETY: static strings.
            let found = cut(|out| unsafe { substring(&s(text), start, length, out) });
            assert_eq!(found.as_deref(), Ok(expected), "{text} {start} {length}");
        }
        // SAFETY: static strings.
        assert!(cut(|out| unsafe { substring(&s("abc"), 1, -1, out) }).is_err());
    }

    #[test]
    fn a_part_of_a_transient_string_is_transient() {
        let whole = s("a text that is longer than inline").as_transient();
        let mut out = StringRef::default();
        // SAFETY: a static string.
        unsafe { substring(&whole, 3, 20, &mut out) };
        assert!(out.is_transient());
    }

    #[test]
    fn makes_strings() {
        let long = "a text that is longer than inline";
        // SAFETY: static strings.
        unsafe {
            assert_eq!(made(|c, o| upper(c, &s("Größe"), o)).unwrap(), "GRÖSSE");
            assert_eq!(made(|c, o| lower(c, &s("ÄB C"), o)).unwrap(), "äb c");
            assert_eq!(made(|c, o| lower(c, &s("ΟΔΟΣ"), o)).unwrap(), "οδος");
            let sharp = "ß".repeat(20);
            let sharp = StringRef::new(sharp.as_bytes());
            assert_eq!(made(|c, o| upper(c, &sharp, o)).unwrap(), "SS".repeat(20));
            for parts in [
                &["ab", "", "cd"][..],
                &[long, "!"],
                &["", long, "", long],
                &["x"],
                &[],
            ] {
                let texts: Vec<StringRef> = parts.iter().map(|part| s(part)).collect();
                let all = made(|c, o| concat(c, texts.as_ptr(), texts.len() as u64, o));
                assert_eq!(all.unwrap(), parts.concat());
            }
            assert_eq!(
                made(|c, o| replace(c, &s("abcabc"), &s("b"), &s("xx"), o)).unwrap(),
                "axxcaxxc"
            );
            assert_eq!(
                made(|c, o| replace(c, &s("abc"), &s(""), &s("xx"), o)).unwrap(),
                "abc"
            );
        }
    }

    #[test]
    fn functions_of_long_texts_hear_a_cancel() {
        let (ascii, umlauts) = ("a".repeat(ITEMS_AT_ONCE), "ü".repeat(ITEMS_AT_ONCE));
        let cancel = Cancel::new();
        cancel.cancel();
        let mut out = StringRef::default();
        // SAFETY: the strings are alive, and the context belongs to this call.
        context_under(&cancel, |context| unsafe {
            let (text, part) = (StringRef::new(ascii.as_bytes()), StringRef::inline(b"a"));
            assert_eq!(replace(context, &text, &part, &part, &mut out), STATUS_FAILED);
            let error = (*context).error.error.take().unwrap();
            assert_eq!(error.state().0, "57014");
            assert_eq!(
                upper(context, &StringRef::new(umlauts.as_bytes()), &mut out),
                STATUS_FAILED
            );
        });
    }

    #[test]
    fn trims_and_finds() {
        let trimmed = |text, chars, sides| {
            let mut out = StringRef::default();
            // SAFETY: static strings.
            unsafe {
                trim(&s(text), &s(chars), sides, &mut out);
                out.text().to_owned()
            }
        };
        assert_eq!(trimmed("  a b  ", " ", 3), "a b");
        assert_eq!(trimmed("  a b  ", " ", 1), "a b  ");
        assert_eq!(trimmed("xyaxy", "yx", 2), "xya");
        assert_eq!(trimmed("xyxy", "yx", 3), "");
        // SAFETY: static strings.
        unsafe {
            assert_eq!(position(&s("größer"), &s("er")), 5);
            assert_eq!(position(&s("abc"), &s("d")), 0);
            assert_eq!(position(&s("abc"), &s("")), 1);
            for text in [
                "",
                "größer",
                "grösser",
                "mehr als zwölf Zeichen",
                "mehr als zwoelf Zeichen",
            ] {
                let string = s(text);
                assert_eq!(
                    string_length(string.head, string.tail),
                    text.chars().count() as i64
                );
            }
            let texts = [
                "a",
                "b",
                "twelve bytes",
                "more than twelve bytes",
                "more than twelve bites",
            ];
            for (x, y) in texts.iter().flat_map(|x| texts.iter().map(move |y| (*x, *y))) {
                let (a, b) = (s(x), s(y));
                assert_eq!(string_compare(a.head, a.tail, b.head, b.tail), x.cmp(y) as i32);
                assert_eq!(string_equal(a.head, a.tail, b.head, b.tail), i32::from(x == y));
                assert_eq!(string_hash(7, a.head, a.tail), fold_string(7, a));
            }
            let pattern = LikePattern::compile("a%c", None).unwrap();
            assert_eq!(like(&pattern, &s("abbc")), 1);
        }
        // SAFETY: as above.
        let fit = |text, ty: LogicalType| made(|c, o| unsafe { fit_text(c, &s(text), ty.code(), o) });
        let (varchar, char) = (LogicalType::Varchar, LogicalType::Char);
        assert_eq!(fit("größer", varchar(6)).unwrap(), "größer");
        assert_eq!(fit("größer", varchar(5)).unwrap_err(), "22001");
        assert_eq!(fit("grö   ", varchar(4)).unwrap(), "grö ");
        assert_eq!(fit("grö   ", char(4)).unwrap(), "grö");
        assert_eq!(fit("grö   ", char(2)).unwrap_err(), "22001");
    }
}
