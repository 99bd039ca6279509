//! Texts between the client's encoding and UTF-8, in which the database keeps them.
//!
//! UTF8 and SQL_ASCII clients send and read UTF-8: nothing is converted for them. LATIN1 has a byte for each character
//! up to U+00FF. Every byte is a character, so reading never fails; writing fails with 22P05 at the first character
//! beyond. Values in binary form are converted where their types have texts: see [`TextPlace`].

use frazil::{ClientEncoding, Error, LogicalType, Result, SqlState};
use frazil_types::sql_type::{SentText, too_long, utf8};

/// Bytes of an array's binary form before its dimensions: their number, a flag, the number of the elements' type.
const ARRAY_HEAD: usize = 12;
/// Bytes of a dimension: its length and its lower bound.
const DIMENSION: usize = 8;

/// A text of a client's message. A message before it may change the encoding, so a text is decoded when its message
/// runs.
#[derive(Debug, PartialEq)]
pub struct ClientText(pub Vec<u8>);

impl ClientText {
    /// Decodes the text. Errors with 22021 if the bytes are not of the encoding.
    pub fn decode(self, encoding: ClientEncoding) -> Result<String> {
        if converts(encoding) {
            return Ok(self.0.into_iter().map(char::from).collect());
        }
        // A text ends before the first zero byte, so valid UTF-8 is all that is asked for.
        String::from_utf8(self.0).or_else(|error| utf8(error.as_bytes()).map(str::to_owned))
    }
}

/// True if texts of the encoding are not UTF-8.
pub fn converts(encoding: ClientEncoding) -> bool {
    match encoding {
        ClientEncoding::Utf8 | ClientEncoding::SqlAscii => false,
        ClientEncoding::Latin1 => true,
    }
}

/// Appends LATIN1 as UTF-8, which has at most twice as many bytes.
pub fn push_latin1(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        match byte.is_ascii() {
            true => out.push(byte),
            false => out.extend_from_slice(&[0xc0 | byte >> 6, 0x80 | byte & 0x3f]),
        }
    }
}

/// [`push_latin1`] as a [`Convert`].
pub fn from_latin1(bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    push_latin1(bytes, out);
    Ok(())
}

/// Appends UTF-8 as LATIN1, which has at most as many bytes. Errors with 22P05 for a character beyond U+00FF; what was
/// appended before it is left to the caller.
pub fn to_latin1(text: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let mut rest = text;
    loop {
        let ascii = rest
            .iter()
            .position(|byte| !byte.is_ascii())
            .unwrap_or(rest.len());
        out.extend_from_slice(&rest[..ascii]);
        rest = match rest[ascii..] {
            [] => return Ok(()),
            // UTF-8 has U+0080 to U+00FF in two bytes, of which the first is 0xc2 or 0xc3.
            [first @ 0xc2..=0xc3, second, ref behind @ ..] => {
                out.push(first << 6 | second & 0x3f);
                behind
            }
            ref other => return Err(no_equivalent(other)),
        };
    }
}

/// The error 22P05 of the character with which `text` begins.
fn no_equivalent(text: &[u8]) -> Error {
    let length = match text.first() {
        Some(0xf0..) => 4,
        Some(0xe0..) => 3,
        _ => 2,
    };
    let bytes: Vec<String> = text.iter().take(length).map(|b| format!("{b:#04x}")).collect();
    let message = format!(
        "character with byte sequence {} in encoding \"UTF8\" has no equivalent in encoding \"LATIN1\"",
        bytes.join(" ")
    );
    Error::new(SqlState::UNTRANSLATABLE_CHARACTER, message)
}

/// The text with `?` in place of characters that LATIN1 lacks.
pub fn with_question_marks(text: &str) -> String {
    let shown = text.chars().map(|c| if c <= '\u{ff}' { c } else { '?' });
    shown.collect()
}

/// The text with signs spelled in ASCII that LATIN1 lacks and that the database's own messages have.
pub fn spelled(text: &str) -> String {
    let spelled = text.replace('…', "...").replace('→', "->");
    spelled.replace(char::REPLACEMENT_CHARACTER, "?")
}

/// Converts the bytes of a text, and appends them: [`from_latin1`] or [`to_latin1`].
type Convert = fn(&[u8], &mut Vec<u8>) -> Result<()>;

/// The place of texts in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextPlace {
    /// The value has none.
    Nowhere,
    /// The whole value is a text: any value in text format, and a text in binary form.
    Whole,
    /// The text is behind a version byte: jsonb, jsonpath.
    Versioned,
    /// Each element of an array is a text.
    Elements,
    /// Each element of an array is a text behind a version byte.
    VersionedElements,
}

impl TextPlace {
    /// Returns the place of texts in the binary form of a type.
    pub fn in_binary(ty: LogicalType) -> TextPlace {
        let is_array = ty.element().is_some();
        match (ty.element().unwrap_or(ty).info().sent_text, is_array) {
            (None, _) => TextPlace::Nowhere,
            (Some(SentText::Whole), false) => TextPlace::Whole,
            (Some(SentText::Versioned), false) => TextPlace::Versioned,
            (Some(SentText::Whole), true) => TextPlace::Elements,
            (Some(SentText::Versioned), true) => TextPlace::VersionedElements,
        }
    }

    /// Appends a value whose texts are converted. Bytes that cannot be a value of the type are appended as they are:
    /// the type's own reader refuses them. The errors of `convert`; 54000 for a text of 2 GB or more in an array.
    pub fn convert(self, value: &[u8], convert: Convert, out: &mut Vec<u8>) -> Result<()> {
        match self {
            TextPlace::Nowhere => out.extend_from_slice(value),
            TextPlace::Whole => convert(value, out)?,
            TextPlace::Versioned => {
                let (version, text) = value.split_at(value.len().min(1));
                out.extend_from_slice(version);
                convert(text, out)?;
            }
            TextPlace::Elements => elements(value, TextPlace::Whole, convert, out)?,
            TextPlace::VersionedElements => elements(value, TextPlace::Versioned, convert, out)?,
        }
        Ok(())
    }
}

/// Appends an array whose elements' texts are converted.
fn elements(array: &[u8], texts: TextPlace, convert: Convert, out: &mut Vec<u8>) -> Result<()> {
    let dimensions = array.first_chunk().map_or(0, |count| u32::from_be_bytes(*count));
    let head = ARRAY_HEAD.saturating_add((dimensions as usize).saturating_mul(DIMENSION));
    let (head, mut rest) = array.split_at(head.min(array.len()));
    out.extend_from_slice(head);
    while let Some(behind) = sized(rest, texts, convert, out)? {
        rest = behind;
    }
    out.extend_from_slice(rest);
    Ok(())
}

/// Appends the value behind its length with which `bytes` begin, its texts converted. Returns the bytes behind it;
/// `None`, with nothing appended, if the value is not whole.
fn sized<'a>(
    bytes: &'a [u8],
    texts: TextPlace,
    convert: Convert,
    out: &mut Vec<u8>,
) -> Result<Option<&'a [u8]>> {
    let Some((length, rest)) = bytes.split_first_chunk::<4>() else {
        return Ok(None);
    };
    // A length of -1 is NULL.
    let Ok(count) = usize::try_from(i32::from_be_bytes(*length)) else {
        out.extend_from_slice(length);
        return Ok(Some(rest));
    };
    let Some((value, rest)) = rest.split_at_checked(count) else {
        return Ok(None);
    };
    let at = out.len();
    out.extend_from_slice(length);
    texts.convert(value, convert, out)?;
    let length = i32::try_from(out.len() - at - 4).map_err(|_| too_long())?;
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
    Ok(Some(rest))
}

/// Makes the values of a row LATIN1: those behind `start` in `out`, each behind its length. `columns` says for each
/// column where its texts are. Errors with 22P05; the row is the caller's to take back.
pub fn row_to_latin1(
    out: &mut Vec<u8>,
    start: usize,
    columns: &[TextPlace],
    row: &mut Vec<u8>,
) -> Result<()> {
    row.clear();
    row.extend_from_slice(&out[start..]);
    out.truncate(start);
    let mut rest = &row[..];
    for texts in columns {
        match sized(rest, *texts, to_latin1, out)? {
            Some(behind) => rest = behind,
            None => break,
        }
    }
    out.extend_from_slice(rest);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_testkit::Random;
    use frazil_types::Value;
    use frazil_types::sql_type::send_sized;

    fn latin1(text: &str) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        to_latin1(text.as_bytes(), &mut out).map(|()| out)
    }

    #[test]
    fn each_byte_is_the_character_of_its_number() {
        let bytes: Vec<u8> = (1..=0xff).collect();
        let text: String = bytes.iter().copied().map(char::from).collect();
        let mut read = Vec::new();
        from_latin1(&bytes, &mut read).unwrap();
        assert_eq!(read, text.as_bytes());
        assert_eq!(latin1(&text).unwrap(), bytes);
        let decoded = ClientText(bytes).decode(ClientEncoding::Latin1);
        assert_eq!(decoded.unwrap(), text);
    }

    #[test]
    fn characters_beyond_are_named_with_their_bytes() {
        for (text, bytes) in [
            ("a\u{100}", "0xc4 0x80"),
            ("é€x", "0xe2 0x82 0xac"),
            ("𝄞", "0xf0 0x9d 0x84 0x9e"),
        ] {
            let error = latin1(text).unwrap_err();
            assert_eq!(error.state(), SqlState::UNTRANSLATABLE_CHARACTER);
            let expected = format!(
                "character with byte sequence {bytes} in encoding \"UTF8\" has no equivalent in encoding \"LATIN1\""
            );
            assert_eq!(error.message(), expected);
        }
        assert_eq!(with_question_marks("aé€𝄞"), "aé??");
        assert_eq!(spelled("é… → \u{fffd}€"), "é... -> ?€");
    }

    #[test]
    fn texts_of_other_encodings_must_be_utf8() {
        for encoding in [ClientEncoding::Utf8, ClientEncoding::SqlAscii] {
            let decoded = |bytes: &[u8]| ClientText(bytes.to_vec()).decode(encoding);
            assert_eq!(decoded("é".as_bytes()).unwrap(), "é");
            let state = decoded(b"a\xff").unwrap_err().state();
            assert_eq!(state, SqlState::CHARACTER_NOT_IN_REPERTOIRE);
        }
    }

    /// The binary form of a value without its length.
    fn sent(value: &Value, ty: LogicalType) -> Vec<u8> {
        let mut out = Vec::new();
        send_sized(&mut out, value, ty).unwrap();
        out.split_off(4)
    }

    #[test]
    fn values_in_binary_form_come_back() {
        let text = |text: &str| Value::Text(text.to_owned());
        let array = |ty: LogicalType, shown: &str| {
            let ty = ty.array().unwrap();
            ((ty.info().read)(shown, ty).unwrap(), ty)
        };
        for ((value, ty), shrinks_by) in [
            ((text("é"), LogicalType::Text), 1),
            ((text("éé"), LogicalType::Varchar(9)), 2),
            ((text("{\"é\":1}"), LogicalType::Json), 1),
            ((text("\"é\""), LogicalType::Jsonb), 1),
            ((Value::Int(-1), LogicalType::BigInt), 0),
            ((Value::Bytes(vec![0xe9, 0xff]), LogicalType::Bytea), 0),
            (array(LogicalType::Text, "{é,NULL,\"\",aéa}"), 2),
            (array(LogicalType::Text, "[2:3][0:1]={{é,b},{c,é}}"), 2),
            (array(LogicalType::Text, "{}"), 0),
            (array(LogicalType::Jsonb, "{\"\\\"é\\\"\",1}"), 1),
            (array(LogicalType::Integer, "{233,-1}"), 0),
        ] {
            let (utf8, texts) = (sent(&value, ty), TextPlace::in_binary(ty));
            let (mut latin1, mut back) = (Vec::new(), Vec::new());
            texts.convert(&utf8, to_latin1, &mut latin1).unwrap();
            assert_eq!(latin1.len() + shrinks_by, utf8.len(), "{ty} {value:?}");
            texts.convert(&latin1, from_latin1, &mut back).unwrap();
            assert_eq!(back, utf8, "{ty} {value:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_array_stay_without_a_panic() {
        let mut random = Random::new(55);
        let ty = LogicalType::Text.array().unwrap();
        let whole = sent(&(ty.info().read)("{é,NULL,b}", ty).unwrap(), ty);
        for _ in 0..2_000 {
            let mut bytes = whole[..random.index(whole.len() + 1)].to_vec();
            for _ in 0..random.index(3).min(bytes.len()) {
                let at = random.index(bytes.len());
                bytes[at] = [0, 0x7f, 0xff, 0xe9][random.index(4)];
            }
            for texts in [
                TextPlace::Elements,
                TextPlace::VersionedElements,
                TextPlace::Versioned,
            ] {
                let mut out = Vec::new();
                texts.convert(&bytes, from_latin1, &mut out).unwrap();
                assert!(
                    out.len() >= bytes.len() && out.len() <= 2 * bytes.len(),
                    "{bytes:?}"
                );
            }
        }
    }

    #[test]
    fn a_row_is_rewritten_behind_its_start() {
        let mut out = b"before".to_vec();
        let columns = [TextPlace::Whole, TextPlace::Nowhere, TextPlace::Whole];
        for value in [Some("é€".as_bytes()), Some(&[0xc3, 0xa9][..]), None] {
            let length = value.map_or(-1, |value| value.len() as i32);
            out.extend(length.to_be_bytes());
            out.extend(value.unwrap_or_default());
        }
        let mut row = Vec::new();
        let error = row_to_latin1(&mut out.clone(), 6, &columns, &mut row).unwrap_err();
        assert_eq!(error.state(), SqlState::UNTRANSLATABLE_CHARACTER);
        // Without the euro sign.
        out.splice(6..15, [&2i32.to_be_bytes()[..], "é".as_bytes()].concat());
        row_to_latin1(&mut out, 6, &columns, &mut row).unwrap();
        let expected = [
            &b"before"[..],
            &[0, 0, 0, 1, 0xe9],
            &[0, 0, 0, 2, 0xc3, 0xa9],
            &[255, 255, 255, 255],
        ];
        assert_eq!(out, expected.concat());
    }
}
