//! Tests of numerics: identities over random numbers, and PostgreSQL's digits.

use super::*;

fn number(text: &str) -> Numeric {
    Numeric::read(text).unwrap()
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// A number of any length and scale; many have zeros at the end, and many are near to others.
    fn number(&mut self) -> Numeric {
        let wide = (u128::from(self.next()) << 64 | u128::from(self.next())) as i128;
        let head = wide % POWERS_OF_TEN[1 + self.below(38) as usize];
        let zeros = POWERS_OF_TEN[self.below(39) as usize];
        let longer = head.checked_mul(zeros).filter(|v| fits(*v, 0).is_some());
        let coefficient = longer.filter(|_| self.below(2) == 0).unwrap_or(head);
        Numeric::new(coefficient, self.below(39) as u8).unwrap()
    }
}

/// Pairs of numbers, half of them equal but for their scales.
fn pairs() -> impl Iterator<Item = (Numeric, Numeric)> {
    let mut random = Random(48);
    (0..20_000).map(move |_| {
        let (a, other) = (random.number(), random.number());
        let b = match random.below(2) {
            0 => other,
            _ => a.trimmed().rounded(random.below(39) as i32),
        };
        (a, b)
    })
}

#[test]
fn bytes_come_back_and_are_ordered_as_numbers() {
    for (a, b) in pairs() {
        let (in_bytes, other) = (a.to_bytes(), b.to_bytes());
        let back = Numeric::of_bytes(&in_bytes).unwrap();
        assert_eq!((back.coefficient, back.scale), (a.coefficient, a.scale), "{a}");
        assert_eq!(
            Numeric::key(&in_bytes).cmp(Numeric::key(&other)),
            a.cmp(&b),
            "{a} {b}"
        );
        assert_eq!(
            in_bytes.cmp(&other),
            a.cmp(&b).then(a.scale.cmp(&b.scale)),
            "{a} {b}"
        );
        let read = Numeric::read(&a.to_string()).unwrap();
        assert_eq!((read.coefficient, read.scale), (a.coefficient, a.scale), "{a}");
    }
}

#[test]
fn damaged_bytes_are_refused_or_are_of_a_number() {
    let mut random = Random(49);
    for (a, _) in pairs() {
        let mut bytes = a.to_bytes();
        match random.below(3) {
            0 => bytes.truncate(random.below(bytes.len() as u64) as usize),
            1 => bytes.push(random.next() as u8),
            _ => {
                let at = random.below(bytes.len() as u64) as usize;
                bytes[at] = random.next() as u8;
            }
        }
        if let Ok(number) = Numeric::of_bytes(&bytes) {
            assert_eq!(number.to_bytes(), bytes);
        }
    }
    assert_eq!(
        Numeric::of_bytes(&[]).unwrap_err().state(),
        SqlState::DATA_CORRUPTED
    );
}

#[test]
fn sums_and_quotients_hold_what_numbers_do() {
    for (a, b) in pairs() {
        let scale = a.scale.max(b.scale);
        if let Ok(sum) = a.plus(b)
            && sum.scale == scale
            && let Ok(back) = sum.minus(b)
        {
            assert_eq!(back, a, "{a} {b}");
        }
        if b.coefficient == 0 {
            assert_eq!(a.divided(b).unwrap_err().state(), SqlState::DIVISION_BY_ZERO);
            continue;
        }
        let rest = a.remainder(b).unwrap();
        assert!(rest.abs() < b.abs(), "{a} {b}");
        if let Ok(sum) = a.whole_quotient(b).and_then(|whole| whole.times(b)?.plus(rest))
            && sum.scale == scale
        {
            assert_eq!(sum, a, "{a} {b}");
        }
    }
}

#[test]
fn bounds_decide_comparisons_at_their_scale() {
    for (a, n) in pairs() {
        let (below, above) = (n.bound(a.scale, Side::Below), n.bound(a.scale, Side::Above));
        let v = a.coefficient;
        assert_eq!(
            [v < above, v <= below, v > below, v >= above],
            [a < n, a <= n, a > n, a >= n],
            "{a} {n}"
        );
    }
}

#[test]
fn values_keep_their_digits() {
    for text in [
        "0",
        "0.00",
        "1.50",
        "-1.5",
        "100",
        "0.001",
        "12345678901234567890123456789012345678",
    ] {
        assert_eq!(number(text).to_string(), text);
    }
    for (text, shown) in [
        ("1e3", "1000"),
        ("1.5e1", "15"),
        (".5", "0.5"),
        ("1e-3", "0.001"),
        ("+7.", "7"),
        ("1.50e-1", "0.150"),
    ] {
        assert_eq!(number(text).to_string(), shown, "{text}");
    }
    assert_eq!(number("1.5"), number("1.50"));
    assert_eq!(
        Numeric::read("1e38").unwrap_err().state(),
        SqlState::NUMERIC_OUT_OF_RANGE
    );
    assert_eq!(Numeric::read("1x").unwrap_err().state(), SqlState::INVALID_TEXT);
    assert_eq!(Numeric::read("").unwrap_err().state(), SqlState::INVALID_TEXT);
    assert_eq!(
        Numeric::read("NaN").unwrap_err().state(),
        SqlState::FEATURE_NOT_SUPPORTED
    );
    let long = number("1.23456789012345678901234567890123456789999");
    assert_eq!(long.to_string(), "1.2345678901234567890123456789012345679");
}

#[test]
fn results_have_postgresqls_digits() {
    let divided = |a: &str, b: &str| number(a).divided(number(b)).unwrap().to_string();
    assert_eq!(divided("1", "3"), "0.33333333333333333333");
    assert_eq!(divided("10", "4"), "2.5000000000000000");
    assert_eq!(divided("100000", "3"), "33333.333333333333");
    assert_eq!(divided("1.5", "0.0003"), "5000.0000000000000000");
    assert_eq!(divided("0", "7"), "0.00000000000000000000");
    assert_eq!(divided("-2.00", "0.5"), "-4.0000000000000000");
    assert_eq!(number("1.50").times(number("2.0")).unwrap().to_string(), "3.000");
    assert_eq!(number("1.5").plus(number("2.25")).unwrap().to_string(), "3.75");
    assert_eq!(number("-7.5").remainder(number("2")).unwrap().to_string(), "-1.5");
    assert_eq!(
        number("-7.5").whole_quotient(number("2")).unwrap().to_string(),
        "-3"
    );
    assert_eq!(number("2.5").rounded(0).to_string(), "3");
    assert_eq!(number("2.5").rounded(3).to_string(), "2.500");
    assert_eq!(number("1250").rounded(-2).to_string(), "1300");
    assert_eq!(number("-2.5").floor().to_string(), "-3");
    assert_eq!(number("-2.5").ceil().to_string(), "-2");
    assert_eq!(number("-2.57").truncated(1).to_string(), "-2.5");
    assert_eq!(number("1.500").trimmed().to_string(), "1.5");
    assert_eq!(Numeric::of_double(0.1, 15).unwrap().to_string(), "0.1");
}
