//! Tests of FSST strings as they are stored: a symbol table is met by the test once, and then each row costs a look-up
//! for each code of its string. Nothing is decompressed.

use crate::block::Block;
use crate::format::FLAG_FSST;
use crate::text_predicate::TextPredicate;
use frazil_kernels::like::automaton::{ByteAutomaton, CodeAutomaton};
use frazil_types::{CompareOp, Result};
use std::ops::Range;
use std::sync::OnceLock;

/// Rows of a block for each state of the automaton from which on its table pays: a state takes 256 symbols of a few
/// bytes, a row saves the decompression of its string.
const ROWS_OF_STATE: usize = 64;
/// Codes of the mean string from which on a needle is searched in the decompressed strings, by SIMD.
const MOST_CODES_SEARCHED: usize = 16;

/// A test of strings, and how it is done on codes once a whole window has asked for it.
#[derive(Debug)]
pub(crate) struct TextTest {
    pub predicate: TextPredicate,
    on_codes: OnceLock<Option<OnCodes>>,
}

/// A test on the codes of one block.
#[derive(Debug)]
struct OnCodes {
    automaton: CodeAutomaton,
    negated: bool,
    /// Address of the symbol table that the codes belong to.
    symbols: usize,
}

impl TextTest {
    /// A test that no block has met.
    pub fn new(predicate: TextPredicate) -> TextTest {
        TextTest {
            predicate,
            on_codes: OnceLock::new(),
        }
    }
}

impl Block {
    /// Sets the bits of rows of a raw column whose strings pass, and clears those of the others. Returns false, and
    /// leaves the bits, if the strings have to be looked at as text. NULLs are empty strings. The column has been
    /// touched.
    pub(crate) fn match_stored(
        &self,
        column: usize,
        test: &TextTest,
        rows: Range<u32>,
        bits: &mut [u64],
    ) -> Result<bool> {
        let on_codes = match test.on_codes.get() {
            Some(known) => known,
            None => {
                let made = self.on_codes(column, &test.predicate)?;
                test.on_codes.get_or_init(|| made)
            }
        };
        let Some(on_codes) = on_codes else {
            return Ok(false);
        };
        let entry = self.entry(column);
        let symbols = self.section(entry.sections.symbols).as_ptr() as usize;
        debug_assert_eq!(symbols, on_codes.symbols, "codes of another symbol table");
        let ends = &self.slice::<u32>(entry.sections.codes)[rows.start as usize..=rows.end as usize];
        let heap = self.section(entry.sections.heap);
        on_codes.automaton.match_heap(heap, ends, bits);
        if on_codes.negated {
            crate::code_match::negate(bits, rows.len());
        }
        Ok(true)
    }

    /// The test on the codes of a raw column; `None` if the strings are not FSST, or if text is quicker.
    fn on_codes(&self, column: usize, predicate: &TextPredicate) -> Result<Option<OnCodes>> {
        let entry = self.entry(column);
        if !entry.has(FLAG_FSST) {
            return Ok(None);
        }
        let rows = self.rows() as usize;
        let (automaton, negated) = match predicate {
            TextPredicate::Compare(CompareOp::Eq, string) => (ByteAutomaton::exact(string), false),
            TextPredicate::Compare(CompareOp::Ne, string) => (ByteAutomaton::exact(string), true),
            TextPredicate::Prefix(prefix) => (ByteAutomaton::prefix(prefix), false),
            TextPredicate::Like { pattern, negated } => {
                let codes = self.slice::<u32>(entry.sections.codes)[rows] as usize;
                if pattern.is_search() && codes > rows * MOST_CODES_SEARCHED {
                    return Ok(None);
                }
                (pattern.automaton(), *negated)
            }
            TextPredicate::Compare(..) | TextPredicate::Between(..) | TextPredicate::In(_) => {
                return Ok(None);
            }
        };
        let Some(automaton) = automaton.filter(|a| a.states() * ROWS_OF_STATE <= rows) else {
            return Ok(None);
        };
        Ok(Some(OnCodes {
            automaton: self.decoder(column)?.over_codes(&automaton),
            negated,
            symbols: self.section(entry.sections.symbols).as_ptr() as usize,
        }))
    }
}
