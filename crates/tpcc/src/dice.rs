//! Random numbers and texts (TPC-C, 2.1.5, 2.1.6 and 4.3.2).

use crate::population::Population;
use frazil_testkit::Random;

/// The syllables of last names, by digit (4.3.2.3).
const SYLLABLES: [&str; 10] = [
    "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING",
];
/// The constant C of last names while tables are loaded (2.1.6.1).
const C_LAST_LOADING: i32 = 157;
/// The constant C of last names in transactions; it differs from [`C_LAST_LOADING`] by 65 to 119, but not by 96 or 112.
const C_LAST_RUNNING: i32 = 223;
/// The constant C of customers.
const C_CUSTOMER: i32 = 259;
/// The constant C of items.
const C_ITEM: i32 = 7_911;
const LETTERS_AND_DIGITS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// A source of random inputs that follow from a seed.
#[derive(Clone, Debug)]
pub struct Dice {
    random: Random,
    population: Population,
    c_last: i32,
}

impl Dice {
    /// Dice for loading tables.
    pub fn loading(population: Population, seed: u64) -> Dice {
        Dice {
            random: Random::new(seed),
            population,
            c_last: C_LAST_LOADING,
        }
    }

    /// Dice for transactions.
    pub fn running(population: Population, seed: u64) -> Dice {
        Dice {
            c_last: C_LAST_RUNNING,
            ..Dice::loading(population, seed)
        }
    }

    /// The sizes of the tables.
    pub fn population(&self) -> &Population {
        &self.population
    }

    /// A number from `least` to `most`, all equally likely.
    pub fn number(&mut self, least: i32, most: i32) -> i32 {
        let span = u64::from(most.abs_diff(least)) + 1;
        // The remainder is less than the span, which fits.
        least + i32::try_from(self.random.below(span)).unwrap_or(0)
    }

    /// A share from 0 to 1, 1 excluded.
    pub fn share(&mut self) -> f64 {
        self.random.share()
    }

    /// True in one case of `cases`.
    pub fn one_in(&mut self, cases: i32) -> bool {
        self.number(1, cases) == 1
    }

    /// NURand(A, `least`, `most`) with the constant C (2.1.6). A is 2^n - 1, near `share` of the range as the
    /// specification's A is.
    fn uneven(&mut self, share: f64, c: i32, least: i32, most: i32) -> i32 {
        let range = most - least + 1;
        let spread = f64::from(range) * share;
        // At most 2^13: the cast keeps the number.
        let a = (spread.round().max(1.0) as i32 as u32).next_power_of_two() as i32 - 1;
        let drawn = self.number(0, a) | self.number(least, most);
        (drawn + c) % range + least
    }

    /// A customer of a district: NURand(1023, 1, 3000).
    pub fn customer(&mut self) -> i32 {
        let most = self.population.customers;
        self.uneven(0.34, C_CUSTOMER, 1, most)
    }

    /// An item: NURand(8191, 1, 100000).
    pub fn item(&mut self) -> i32 {
        let most = self.population.items;
        self.uneven(0.08, C_ITEM, 1, most)
    }

    /// A customer's last name: that of NURand(255, 0, 999).
    pub fn last_name(&mut self) -> String {
        let most = self.population.last_names() - 1;
        let c = self.c_last;
        last_name(self.uneven(0.25, c, 0, most))
    }

    /// A text of letters and digits whose length is from `least` to `most`.
    pub fn text(&mut self, least: i32, most: i32) -> String {
        let length = usize::try_from(self.number(least, most)).unwrap_or(0);
        let mut text = String::with_capacity(length);
        while text.len() < length {
            let mut bits = self.random.bits();
            // Ten characters of six bits each; two of the 64 numbers begin the characters again.
            for _ in 0..(length - text.len()).min(10) {
                text.push(char::from(LETTERS_AND_DIGITS[(bits & 63) as usize % 62]));
                bits >>= 6;
            }
        }
        text
    }

    /// A text of `length` digits.
    pub fn digits(&mut self, length: usize) -> String {
        (0..length)
            .map(|_| char::from(b'0' + self.random.below(10) as u8))
            .collect()
    }

    /// Two capital letters: a state.
    pub fn state(&mut self) -> String {
        (0..2)
            .map(|_| char::from(b'A' + self.random.below(26) as u8))
            .collect()
    }

    /// A zip code: four digits and 11111 (4.3.2.7).
    pub fn zip(&mut self) -> String {
        self.digits(4) + "11111"
    }

    /// i_data or s_data: one text of ten has the word ORIGINAL at a random place (4.3.3.1).
    pub fn data(&mut self) -> String {
        const ORIGINAL: &str = "ORIGINAL";
        let mut text = self.text(26, 50);
        if self.one_in(10) {
            let at = self.random.index(text.len() - ORIGINAL.len() + 1);
            text.replace_range(at..at + ORIGINAL.len(), ORIGINAL);
        }
        text
    }

    /// The numbers from 1 to `most` in random order.
    pub fn permutation(&mut self, most: i32) -> Vec<i32> {
        let mut numbers: Vec<i32> = (1..=most).collect();
        self.shuffle(&mut numbers);
        numbers
    }

    /// Puts things in random order.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for at in (1..things.len()).rev() {
            let other = self.random.index(at + 1);
            things.swap(at, other);
        }
    }
}

/// The last name of a number from 0 to 999 (4.3.2.3).
pub fn last_name(number: i32) -> String {
    let digit = |of: i32| SYLLABLES[usize::try_from(of % 10).unwrap_or(0)];
    [digit(number / 100), digit(number / 10), digit(number)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dice() -> Dice {
        Dice::running(Population::new(1), 7)
    }

    #[test]
    fn last_names_are_the_specifications() {
        assert_eq!(last_name(371), "PRICALLYOUGHT");
        assert_eq!(last_name(0), "BARBARBAR");
        assert_eq!(last_name(999), "EINGEINGEING");
        let difference = (C_LAST_RUNNING - C_LAST_LOADING).abs();
        assert!((65..=119).contains(&difference) && difference != 96 && difference != 112);
    }

    #[test]
    fn uneven_numbers_reach_their_range_and_prefer_some() {
        let mut dice = dice();
        let mut counts = vec![0; 3_001];
        for _ in 0..300_000 {
            counts[dice.customer() as usize] += 1;
        }
        assert_eq!(counts[0], 0);
        assert!(counts[1..].iter().filter(|&&n| n > 0).count() > 2_900);
        let mut sorted = counts.clone();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let of_tenth: i32 = sorted[..300].iter().sum();
        assert!(
            of_tenth > 90_000,
            "a tenth of the customers has {of_tenth} of 300,000 visits"
        );
        assert!((0..10_000).all(|_| (1..=100_000).contains(&dice.item())));
    }

    #[test]
    fn texts_have_their_lengths() {
        let mut dice = dice();
        for _ in 0..1_000 {
            let text = dice.text(8, 16);
            assert!((8..=16).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric()));
            let zip = dice.zip();
            assert!(zip.len() == 9 && zip.ends_with("11111") && zip.bytes().all(|b| b.is_ascii_digit()));
            assert!(dice.state().bytes().all(|b| b.is_ascii_uppercase()));
        }
        let original = (0..10_000).filter(|_| dice.data().contains("ORIGINAL")).count();
        assert!((850..1_150).contains(&original), "{original} of 10,000");
    }

    #[test]
    fn a_permutation_has_each_number_once() {
        let drawn = dice().permutation(3_000);
        let mut sorted = drawn.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (1..=3_000).collect::<Vec<_>>());
        assert_ne!(drawn, sorted);
    }

    #[test]
    fn a_reduced_population_keeps_the_ratios() {
        let reduced = Population::reduced(2, 30);
        assert_eq!((reduced.items, reduced.customers), (3_333, 100));
        assert_eq!((reduced.waiting_orders(), reduced.last_names()), (30, 33));
        assert_eq!(Population::new(1).waiting_orders(), 900);
        assert_eq!(Population::new(1).last_names(), 1_000);
        assert_eq!(
            Population::new(1).rows(),
            100_000 + 1 + 100_000 + 10 * (1 + 39_000 + 900)
        );
    }
}
