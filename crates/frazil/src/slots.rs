//! Places for what a statement may name, of which most statements name nothing: they take no memory until they are asked for.

use std::fmt::{self, Debug};
use std::sync::OnceLock;

/// `N` places, each filled once, by whoever comes first.
pub struct Slots<T, const N: usize>(OnceLock<Box<[OnceLock<T>; N]>>);

impl<T, const N: usize> Slots<T, N> {
    /// Nothing.
    pub const fn new() -> Slots<T, N> {
        Slots(OnceLock::new())
    }

    /// What fills a place.
    pub fn get(&self, place: usize) -> Option<&T> {
        self.0.get()?.get(place)?.get()
    }

    /// What fills places, in their order.
    pub fn filled(&self) -> impl Iterator<Item = (usize, &T)> {
        let places = self.0.get().into_iter().flat_map(|places| places.iter());
        let filled = places.enumerate().map(|(place, slot)| (place, slot.get()));
        filled.filter_map(|(place, filled)| filled.map(|filled| (place, filled)))
    }

    /// The places, to be filled.
    pub fn places(&self) -> &[OnceLock<T>; N] {
        self.0.get_or_init(|| Box::new([const { OnceLock::new() }; N]))
    }
}

impl<T: Debug, const N: usize> Debug for Slots<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.filled()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_filled_once_and_nothing_takes_a_pointer() {
        let slots: Slots<String, 64> = Slots::new();
        assert!(size_of_val(&slots) <= 2 * size_of::<usize>());
        assert_eq!((slots.get(3), slots.filled().count()), (None, 0));
        assert_eq!(slots.places()[3].set("a".to_owned()), Ok(()));
        assert_eq!(slots.places()[3].set("b".to_owned()), Err("b".to_owned()));
        assert_eq!(slots.get(3).map(String::as_str), Some("a"));
        assert_eq!(slots.get(64), None);
        assert_eq!(slots.filled().map(|(place, _)| place).collect::<Vec<_>>(), [3]);
    }
}
