//! Compiled statements, kept for when their text comes again.
//!
//! The cache is cut into shards, each behind a lock of its own, which is held for a look-up by text and nothing
//! more. Whether a statement still serves is its own affair ([`CompiledStatement::fits`]), decided outside the lock.
//! What is kept holds code, and no version of a table.

use crate::compiled_statement::CompiledStatement;
use crate::given_values::GivenValues;
use crate::plan_settings::PlanSettings;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

const SHARDS: usize = 16;
/// What a shard keeps at most, in bytes as [`weight`] estimates them: 32 short statements, or one of the longest. All
/// shards together keep no more than [`SHARE`] of `memory_limit`.
const CAPACITY: usize = SMALLEST + BY_TEXT * LONGEST_TEXT;
/// What a statement of few words takes: its code, by whole pages, and its pipelines.
const SMALLEST: usize = 64 << 10;
/// What a byte of text takes once it is planned and compiled: 15 in a list of constants, 300 in a list of columns.
const BY_TEXT: usize = 128;
/// Texts of more bytes than this are not kept: they hold data, and hardly come again.
const LONGEST_TEXT: usize = 16 << 10;

/// Part of `memory_limit` that the cache takes at most: one of so many. It counts towards nobody's budget.
const SHARE: usize = 32;

/// The cache of a database.
#[derive(Debug)]
pub struct PlanCache {
    hasher: RandomState,
    shards: [Mutex<Shard>; SHARDS],
    /// What each shard may keep, in bytes.
    capacity: AtomicUsize,
}

impl Default for PlanCache {
    fn default() -> PlanCache {
        PlanCache {
            hasher: RandomState::new(),
            shards: Default::default(),
            capacity: AtomicUsize::new(CAPACITY),
        }
    }
}

/// Statements in places, found by their texts. When they are too many, a hand goes round and takes those that were not
/// used since the hand's last visit (the clock algorithm).
#[derive(Debug, Default)]
struct Shard {
    /// Places of a text's statements, one for each way of planning and each list of types that values gave it.
    by_text: HashMap<Arc<str>, Vec<usize>>,
    places: Vec<Place>,
    hand: usize,
    /// The weights of all statements.
    weight: usize,
}

#[derive(Debug)]
struct Place {
    text: Arc<str>,
    statement: Arc<CompiledStatement>,
    used: bool,
}

impl PlanCache {
    fn shard(&self, text: &str) -> MutexGuard<'_, Shard> {
        let shard = self.hasher.hash_one(text) as usize % SHARDS;
        self.shards[shard].lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The statement of this text that was planned so and serves these values, if there is one.
    pub fn get(
        &self,
        text: &str,
        settings: PlanSettings,
        given: GivenValues<'_>,
    ) -> Option<Arc<CompiledStatement>> {
        self.find(text, |statement| {
            statement.settings == settings && statement.serves(given)
        })
    }

    /// The statement of this text that was planned so and whose parameters the text alone types, if there is one.
    pub fn typed_by_text(&self, text: &str, settings: PlanSettings) -> Option<Arc<CompiledStatement>> {
        self.find(text, |statement| {
            statement.settings == settings && statement.typed_by.is_none()
        })
    }

    /// True if all statements of this text that were planned so run without pipelines, and there is one.
    pub fn is_direct(&self, text: &str, settings: PlanSettings) -> bool {
        let shard = self.shard(text);
        let places = shard.by_text.get(text).into_iter().flatten();
        let statements = places.map(|&place| &shard.places[place].statement);
        let mut planned = statements
            .filter(|statement| statement.settings == settings)
            .peekable();
        planned.peek().is_some() && planned.all(|statement| statement.is_direct())
    }

    fn find(
        &self,
        text: &str,
        is_wanted: impl Fn(&CompiledStatement) -> bool,
    ) -> Option<Arc<CompiledStatement>> {
        let mut shard = self.shard(text);
        let place = shard.find(text, is_wanted)?;
        let place = &mut shard.places[place];
        place.used = true;
        Some(place.statement.clone())
    }

    /// Keeps no more than a part of a memory limit, from the next statement on that is kept.
    pub fn limit(&self, memory_limit: usize) {
        let capacity = (memory_limit / SHARE / SHARDS).min(CAPACITY);
        self.capacity.store(capacity, Ordering::Relaxed);
    }

    /// Keeps a statement, in place of the one of the same text, way of planning and types of values.
    pub fn put(&self, text: &str, statement: &Arc<CompiledStatement>) {
        let capacity = self.capacity.load(Ordering::Relaxed);
        if text.len() > LONGEST_TEXT || weight(text) > capacity {
            return;
        }
        // What is replaced is freed after the lock.
        let _replaced = self.shard(text).put(text, statement.clone(), capacity);
    }
}

impl Shard {
    fn find(&self, text: &str, is_wanted: impl Fn(&CompiledStatement) -> bool) -> Option<usize> {
        let mut places = self.by_text.get(text)?.iter().copied();
        places.find(|&place| is_wanted(&self.places[place].statement))
    }

    /// Returns the statements that had to go.
    fn put(
        &mut self,
        text: &str,
        statement: Arc<CompiledStatement>,
        capacity: usize,
    ) -> Vec<Arc<CompiledStatement>> {
        let is_same = |other: &CompiledStatement| {
            other.settings == statement.settings && other.typed_by == statement.typed_by
        };
        if let Some(place) = self.find(text, is_same) {
            return vec![std::mem::replace(&mut self.places[place].statement, statement)];
        }
        let mut gone = Vec::new();
        self.weight += weight(text);
        while self.weight > capacity && !self.places.is_empty() {
            gone.push(self.evict());
        }
        let text: Arc<str> = text.into();
        self.by_text
            .entry(text.clone())
            .or_default()
            .push(self.places.len());
        self.places.push(Place {
            text,
            statement,
            used: false,
        });
        gone
    }

    /// Takes out a statement that was not used for long. The last one moves into its place.
    fn evict(&mut self) -> Arc<CompiledStatement> {
        let place = self.next_unused();
        let gone = self.places.swap_remove(place);
        self.weight -= weight(&gone.text);
        self.unlink(&gone.text, place);
        if let Some(moved) = self.places.get(place) {
            let from = self.places.len();
            let places = self.by_text.get_mut(&moved.text).into_iter().flatten();
            places.filter(|p| **p == from).for_each(|p| *p = place);
        }
        gone.statement
    }

    /// Moves the hand to a place that was not used since its last visit: at most once round and one step.
    fn next_unused(&mut self) -> usize {
        loop {
            let place = self.hand % self.places.len();
            self.hand = (place + 1) % self.places.len();
            if !std::mem::take(&mut self.places[place].used) {
                return place;
            }
        }
    }

    fn unlink(&mut self, text: &str, place: usize) {
        if let Some(places) = self.by_text.get_mut(text) {
            places.retain(|&p| p != place);
            if places.is_empty() {
                self.by_text.remove(text);
            }
        }
    }
}

/// About how many bytes the statement of a text takes.
fn weight(text: &str) -> usize {
    SMALLEST + BY_TEXT * text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    fn statement(settings: PlanSettings) -> Arc<CompiledStatement> {
        Arc::new(CompiledStatement::of_no_rows(settings))
    }

    #[test]
    fn a_text_finds_its_statement_by_the_way_of_planning() {
        let cache = PlanCache::default();
        let settings = Settings::default().plan();
        let other = PlanSettings {
            optimize: !settings.optimize,
            ..settings.clone()
        };
        let (one, two) = (statement(settings.clone()), statement(other.clone()));
        cache.put("select 1", &one);
        assert!(cache.get("select 1", other.clone(), GivenValues::NONE).is_none());
        cache.put("select 1", &two);
        assert!(
            cache
                .get("select 2", settings.clone(), GivenValues::NONE)
                .is_none()
        );
        assert!(Arc::ptr_eq(
            &cache
                .get("select 1", settings.clone(), GivenValues::NONE)
                .unwrap(),
            &one
        ));
        assert!(Arc::ptr_eq(
            &cache.get("select 1", other.clone(), GivenValues::NONE).unwrap(),
            &two
        ));
        let newer = statement(settings.clone());
        cache.put("select 1", &newer);
        assert!(Arc::ptr_eq(
            &cache
                .get("select 1", settings.clone(), GivenValues::NONE)
                .unwrap(),
            &newer
        ));
        assert_eq!(Arc::strong_count(&one), 1, "what was replaced is let go");
    }

    #[test]
    fn what_is_used_stays_and_the_rest_goes() {
        let cache = PlanCache::default();
        let settings = Settings::default().plan();
        let kept = statement(settings.clone());
        cache.put("kept", &kept);
        let mut first = None;
        for i in 0..SHARDS * 256 {
            let new = statement(settings.clone());
            cache.put(&format!("select {i}"), &new);
            first.get_or_insert(Arc::downgrade(&new));
            assert!(
                cache.get("kept", settings.clone(), GivenValues::NONE).is_some(),
                "after {i}"
            );
        }
        assert!(first.unwrap().upgrade().is_none());
        assert_eq!(kept_places(&cache), SHARDS * 32);
        cache.put(&"x".repeat(LONGEST_TEXT + 1), &kept);
        assert!(
            cache
                .get(&"x".repeat(LONGEST_TEXT + 1), settings.clone(), GivenValues::NONE)
                .is_none()
        );
    }

    fn kept_places(cache: &PlanCache) -> usize {
        cache.shards.iter().map(|s| s.lock().unwrap().places.len()).sum()
    }

    #[test]
    fn long_texts_are_kept_in_smaller_number() {
        let cache = PlanCache::default();
        let settings = Settings::default().plan();
        let mut texts = Vec::new();
        let limit = CAPACITY / 2;
        cache.limit(limit * SHARDS * SHARE);
        for i in 0..4_000 {
            let text = format!("{i} {}", "x".repeat(i * 7_919 % (LONGEST_TEXT - 10)));
            cache.put(&text, &statement(settings.clone()));
            assert_eq!(
                cache.get(&text, settings.clone(), GivenValues::NONE).is_some(),
                weight(&text) <= limit,
                "the newest is there if it fits"
            );
            texts.push(text);
            for shard in &cache.shards {
                let shard = shard.lock().unwrap();
                let sum: usize = shard.places.iter().map(|p| weight(&p.text)).sum();
                assert!(sum == shard.weight && sum <= limit);
                assert_eq!(shard.by_text.values().flatten().count(), shard.places.len());
            }
        }
        let found = texts
            .iter()
            .filter(|t| cache.get(t, settings.clone(), GivenValues::NONE).is_some())
            .count();
        assert_eq!(found, kept_places(&cache));
    }
}
