//! What a unit's module is made of: its tables of functions by width, and the loops compiled for it.

/// Instantiates a unit: its table of functions by width, and the loops. `$features` are those of its
/// `Lanes`, which for 8, 16 and 32 bits are `$bytes`, `$pairs` and `$quads`; `$words` tests 64 words.
macro_rules! instantiate {
    (
        $unit:ident,
        $isa:expr,
        $features:literal,
        $bytes:ty,
        $pairs:ty,
        $quads:ty,
        $words:expr
    ) => {
        // SAFETY: the functions of this module are reached on machines with the unit only.
        unsafe impl rows::Unit for $unit {
            const ISA: Isa = $isa;

            #[inline(always)]
            fn kernels(bits: u32) -> &'static Kernels {
                &KERNELS[bits.min(33) as usize - 1]
            }

            #[inline(always)]
            fn unpack_frames(bits: u32) -> UnpackFrames {
                FRAME_KERNELS[bits as usize - 1]
            }
        }

        /// The functions by width, from 1 on; the last serves all widths beyond 32.
        static KERNELS: [Kernels; 33] = kernels!(
            bits $bytes: 1;
            table_of_2 $bytes: 2;
            table_of_3 $bytes: 3;
            lanes $bytes: 4 5 6 7 8;
            lanes $pairs: 9 10 11 12 13 14 15 16;
            lanes $quads: 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32;
        );

        /// The functions for frames by width, from 1 on.
        static FRAME_KERNELS: [UnpackFrames; 16] = frame_kernels!(
            $bytes: 1 2 3 4 5 6 7 8;
            $pairs: 9 10 11 12 13 14 15 16;
        );

        #[target_feature(enable = $features)]
        unsafe fn unpack_groups_of_frames<V: LongLanes, const BITS: u32>(
            from: *const u8,
            to: *mut u8,
            references: &[[u32; FRAMES]],
        ) {
            // SAFETY: by contract.
            unsafe { V::unpack_groups_of_frames::<BITS>(from, to, references) }
        }

        #[target_feature(enable = $features)]
        unsafe fn between_groups<V: Lanes, const BITS: u32>(
            from: *const u8,
            _: u32,
            test: Test,
            out: &mut [[u64; GROUP_WORDS]],
        ) {
            // SAFETY: by contract.
            unsafe { groups::between::<V, BITS>(from, test, out) }
        }

        #[target_feature(enable = $features)]
        unsafe fn between_bits(from: *const u8, _: u32, test: Test, out: &mut [[u64; GROUP_WORDS]]) {
            // SAFETY: by contract.
            unsafe { groups::between_bits(from, test, out) }
        }

        #[target_feature(enable = $features)]
        unsafe fn between_2(from: *const u8, _: u32, test: Test, out: &mut [[u64; GROUP_WORDS]]) {
            // SAFETY: by contract.
            unsafe { tables::between_2::<$bytes>(from, test, out) }
        }

        #[target_feature(enable = $features)]
        unsafe fn between_3(from: *const u8, _: u32, test: Test, out: &mut [[u64; GROUP_WORDS]]) {
            // SAFETY: by contract.
            unsafe { tables::between_3::<$bytes>(from, test, out) }
        }

        #[target_feature(enable = $features)]
        unsafe fn unpack_groups<V: Lanes, const BITS: u32>(
            from: *const u8,
            _: u32,
            to: *mut u8,
            groups: usize,
        ) {
            // SAFETY: by contract.
            unsafe { V::unpack_groups::<BITS>(from, to, groups) }
        }

        #[target_feature(enable = $features)]
        unsafe fn unpack_groups_to_32<V: Lanes, const BITS: u32>(
            from: *const u8,
            _: u32,
            to: *mut u8,
            groups: usize,
        ) {
            // SAFETY: by contract.
            unsafe { V::unpack_groups_to_32::<BITS>(from, to, groups) }
        }

        #[target_feature(enable = $features)]
        unsafe fn pack_group<V: Lanes, const BITS: u32>(from: *const u8, _: u32, to: *mut u8) {
            // SAFETY: by contract.
            unsafe { V::pack::<BITS>(from, to) }
        }

        #[target_feature(enable = $features)]
        unsafe fn between_wide(from: *const u8, bits: u32, test: Test, out: &mut [[u64; GROUP_WORDS]]) {
            // SAFETY: by contract.
            unsafe {
                wide::between(from, bits, test, out, unpack_wide, |codes| {
                    $words(codes, test.low, test.span)
                })
            }
        }

        #[target_feature(enable = $features)]
        #[inline(never)]
        unsafe fn unpack_wide(from: *const u8, bits: u32, to: *mut u8, groups: usize) {
            // SAFETY: by contract.
            unsafe { wide::unpack(from, bits, to, groups) }
        }

        #[target_feature(enable = $features)]
        unsafe fn pack_wide(from: *const u8, bits: u32, to: *mut u8) {
            // SAFETY: by contract.
            unsafe { wide::pack(from, bits, to) }
        }

        /// See [`super::between`]. The rows were checked.
        ///
        /// # Safety
        /// The bytes are those of the rows.
        #[target_feature(enable = $features)]
        pub unsafe fn between(
            codes: Packed<'_>,
            rows: Range<usize>,
            op: RangeOp,
            span: (u64, u64),
            combine: Combine,
            out: &mut [u64],
        ) {
            // SAFETY: by contract.
            unsafe { rows::between::<$unit>(codes, rows, op, span, combine, out) }
        }

        /// See [`super::unpack`]. Each form of selection has a function of its own: those with large
        /// buffers begin by probing the stack.
        ///
        /// # Safety
        /// The bytes are those of the rows; `C` holds the codes.
        #[target_feature(enable = $features)]
        pub unsafe fn unpack<C: CodeWord>(
            codes: Packed<'_>,
            selection: Selection<'_>,
            out: &mut [C],
        ) -> usize {
            let count = selection.check(codes.rows, out.len());
            let out = &mut out[..count];
            // SAFETY: by contract, and the selection was checked.
            unsafe {
                match selection {
                    Selection::All { start, .. } => unpack_all(codes, start as usize, out),
                    Selection::Bits { words, start, len } => {
                        unpack_by_bits(codes, words, start as usize, len, out)
                    }
                    Selection::Positions(positions) => {
                        if by_lane!(codes.bits, $unit, C, are_sparse, codes.bits, positions) {
                            unpack_at_sparse_positions(codes, positions, out);
                        } else {
                            unpack_at_positions(codes, positions, out);
                        }
                    }
                }
            }
            count
        }

        #[target_feature(enable = $features)]
        #[inline(never)]
        unsafe fn unpack_all<C: CodeWord>(codes: Packed<'_>, start: usize, out: &mut [C]) {
            let (to, len) = (out.as_mut_ptr(), out.len());
            // SAFETY: by contract.
            unsafe { by_lane!(codes.bits, $unit, C, all, codes, start, to, len) }
        }

        #[target_feature(enable = $features)]
        #[inline(never)]
        unsafe fn unpack_by_bits<C: CodeWord>(
            codes: Packed<'_>,
            words: &[u64],
            start: usize,
            len: u32,
            out: &mut [C],
        ) {
            // SAFETY: by contract.
            unsafe { by_lane!(codes.bits, $unit, C, by_bits, codes, words, start, len, out) }
        }

        #[target_feature(enable = $features)]
        #[inline(never)]
        unsafe fn unpack_at_sparse_positions<C: CodeWord>(
            codes: Packed<'_>,
            positions: &[u16],
            out: &mut [C],
        ) {
            // SAFETY: by contract.
            unsafe {
                by_lane!(
                    codes.bits,
                    $unit,
                    C,
                    at_sparse_positions,
                    codes,
                    positions,
                    out
                )
            }
        }

        #[target_feature(enable = $features)]
        #[inline(never)]
        unsafe fn unpack_at_positions<C: CodeWord>(codes: Packed<'_>, positions: &[u16], out: &mut [C]) {
            // SAFETY: by contract.
            unsafe { by_lane!(codes.bits, $unit, C, at_positions, codes, positions, out) }
        }

        /// See [`super::unpack_frames`]. The lengths were checked.
        ///
        /// # Safety
        /// The bytes are those of the codes.
        #[target_feature(enable = $features)]
        pub unsafe fn unpack_frames(
            codes: Packed<'_>,
            rows: Range<usize>,
            references: &[u32],
            out: &mut [u32],
        ) {
            // SAFETY: by contract.
            unsafe { rows::unpack_frames::<$unit>(codes, rows, references, out) }
        }

        /// See [`super::pack`].
        ///
        /// # Safety
        /// `out` has the bytes of the codes.
        #[target_feature(enable = $features)]
        pub unsafe fn pack(codes: &[u64], bits: u32, out: &mut [u8]) {
            // SAFETY: by contract.
            unsafe { rows::pack::<$unit>(codes, bits, out) }
        }
    };
}
pub(super) use instantiate;

/// The table of functions by width; widths are tested as `bits`, by tables or in `lanes`.
macro_rules! kernels {
    ($($tested:ident $lanes:ty: $($bits:literal)*;)*) => {
        [
            $($(Kernels {
                between: kernels!(@$tested $lanes, $bits),
                unpack: unpack_groups::<$lanes, $bits>,
                unpack_to_32: unpack_groups_to_32::<$lanes, $bits>,
                pack: pack_group::<$lanes, $bits>,
            },)*)*
            Kernels {
                between: between_wide,
                unpack: unpack_wide,
                unpack_to_32: unpack_wide,
                pack: pack_wide,
            },
        ]
    };
    (@bits $lanes:ty, $bits:literal) => { between_bits };
    (@table_of_2 $lanes:ty, $bits:literal) => { between_2 };
    (@table_of_3 $lanes:ty, $bits:literal) => { between_3 };
    (@lanes $lanes:ty, $bits:literal) => { between_groups::<$lanes, $bits> };
}
pub(super) use kernels;

/// The table of functions for frames by width.
macro_rules! frame_kernels {
    ($($lanes:ty: $($bits:literal)*;)*) => {
        [$($(unpack_groups_of_frames::<$lanes, $bits>,)*)*]
    };
}
pub(super) use frame_kernels;
