//! Sizes up to which a structure is looked up row by row. A larger one has a stage boundary in front of its look-ups
//! (Relaxed Operator Fusion, section 4.4): the optimizer expects a size, and whoever opens a pipeline knows it.

/// A structure larger than this does not stay in a core's cache: looking it up row by row stalls on
/// memory, looking it up for a vector of prefetched rows does not.
pub const CACHE_BYTES: usize = 1024 * 1024;
/// An array of rows by their keys is probed row by row up to this size. A probe reads a single cache line there,
/// whose address the key gives, so that a core waits for the lines of several rows at once. On a Sapphire Rapids a
/// probe of an array of 8 MB took 7.5 ns that way, and 23 ns by vectors; with 40 MB 36 and 53 ns.
pub const ARRAY_BYTES: usize = 16 * 1024 * 1024;
