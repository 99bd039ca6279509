//! Kernels on cells in partitions against the same kernels on cells side by side, for every instruction set.

use frazil_kernels::compare::{self, Combine, Comparable, RangeOp};
use frazil_kernels::strided::{self, Number};
use frazil_kernels::{Isa, Plain, Strided};
use std::fmt::Debug;

const KS: [usize; 19] = [
    1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 63, 64, 65, 100, 448, 1000, 1024, 1030, 1088,
];
const ROWS: [usize; 8] = [0, 1, 63, 64, 65, 200, 1500, 3300];

/// Numbers from 0 to 16.
fn values<T: Plain + From<u8>>(count: usize, seed: usize) -> Vec<T> {
    (0..count)
        .map(|i| T::from(((i * 2_654_435_761 + seed * 97) >> 7) as u8 % 17))
        .collect()
}

/// Values in partitions of `k` that begin `k + gap` cells apart; a cell after the last one.
fn laid_out<T: Plain>(values: &[T], k: usize, gap: usize) -> Vec<T> {
    let mut memory = vec![T::default(); (values.len() / k + 1) * (k + gap)];
    for (row, &value) in values.iter().enumerate() {
        memory[row / k * (k + gap) + row % k] = value;
    }
    memory
}

fn tests_agree<T: Comparable + From<u8> + Debug>() {
    let (low, high) = (T::from(3), T::from(11));
    for k in KS {
        for rows in ROWS {
            let dense: Vec<T> = values(rows, k);
            let memory = laid_out(&dense, k, 5);
            let cells = Strided::of_slice(&memory, k, k + 5, rows);
            let mut copied = vec![T::default(); rows];
            strided::copy(cells, &mut copied);
            assert_eq!(copied, dense, "k {k}, {rows} rows");
            assert_eq!(cells.side_by_side(), (rows <= k).then_some(&dense[..]));
            assert!(rows == 0 || cells.run_from(rows / 2) == (k - rows / 2 % k).min(rows - rows / 2));
            let part = rows / 3..rows - rows / 4;
            let upwards = || 0..part.len() as u16;
            let scattered = upwards().map(|row| (usize::from(row) * 1009 % part.len()) as u16);
            let orders: [Vec<u16>; 4] = [
                upwards().rev().collect(),
                upwards().step_by(3).collect(),
                upwards().collect(),
                scattered.collect(),
            ];
            for order in orders {
                let wanted: Vec<T> = (order.iter())
                    .map(|&row| dense[part.start + usize::from(row)])
                    .collect();
                let mut found = vec![T::default(); order.len()];
                cells.part(part.clone()).copy_at(&order, &mut found);
                assert_eq!(found, wanted, "k {k}, {rows} rows");
            }
            for isa in Isa::ALL {
                for combine in [Combine::Replace, Combine::And, Combine::Or] {
                    for op in [RangeOp::Inside, RangeOp::Outside] {
                        let before = vec![0xf0f0_1234_ffff_0000; rows.div_ceil(64)];
                        let (mut wanted, mut found) = (before.clone(), before);
                        compare::between(Isa::Scalar, &dense, op, low, high, combine, &mut wanted);
                        strided::between(isa, cells, op, low, high, combine, &mut found);
                        assert_eq!(found, wanted, "{isa}, k {k}, {rows} rows, {combine:?}, {op:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn range_tests_agree_with_those_of_cells_side_by_side() {
    tests_agree::<u8>();
    tests_agree::<i16>();
    tests_agree::<i32>();
    tests_agree::<i64>();
    tests_agree::<i128>();
    tests_agree::<f64>();
}

fn folds_agree<T: Number + From<u8> + Debug>() {
    for k in KS {
        for rows in ROWS {
            let dense: [Vec<T>; 4] = [1, 2, 3, 4].map(|seed| values(rows, seed));
            let memory = [0, 1, 2, 3].map(|c| laid_out(&dense[c], k, 3 * k));
            let cells = || [0, 1, 2, 3].map(|c| Strided::of_slice(&memory[c], k, 4 * k, rows));
            let of_row = |f: fn(T, T) -> T, row: usize| {
                f(f(dense[0][row], dense[1][row]), f(dense[2][row], dense[3][row]))
            };
            let least = (0..rows).map(|row| of_row(T::plus, row)).min();
            let sum: i64 = (0..rows).map(|row| of_row(T::times, row).widened()).sum();
            for isa in Isa::ALL {
                let found = strided::least_sum(isa, cells());
                assert_eq!(found, least.unwrap_or(T::GREATEST), "{isa}, k {k}, {rows} rows");
                assert_eq!(
                    strided::sum_of_products(isa, cells()),
                    sum,
                    "{isa}, k {k}, {rows} rows"
                );
            }
        }
    }
}

#[test]
fn folds_agree_with_plain_loops() {
    folds_agree::<u8>();
    folds_agree::<i16>();
    folds_agree::<i32>();
    folds_agree::<i64>();
}

/// Windows begin anywhere in a partition.
#[test]
fn rows_may_begin_inside_a_partition() {
    for k in [3, 100, 1000, 1024] {
        let dense: Vec<i32> = values(1200, 9);
        let memory = laid_out(&dense, k, 1);
        for first in [1, 64, 65, 192] {
            let (partition, within) = (first / k, first % k);
            let start = &memory[partition * (k + 1)..];
            // SAFETY: rows from `first` on lie in the slice.
            let cells = unsafe { Strided::new(start.as_ptr(), k, (k + 1) * 4, within, 1000) };
            let mut found = vec![0; 1000];
            strided::copy(cells, &mut found);
            assert_eq!(found, dense[first..first + 1000], "k {k} from {first}");
        }
    }
}
