//! The compression of pages of Parquet.

use crate::compression::Compression;
use parquet::basic::{Compression as Codec, ZstdLevel};
use parquet::errors::{ParquetError, Result};

/// Compresses pages one after the other, in memory that it keeps.
pub struct PageCodec {
    codec: Codec,
    way: Way,
    out: Vec<u8>,
}

enum Way {
    None,
    Snappy(Box<snap::raw::Encoder>),
    Lz4,
    Zstd(zstd::bulk::Compressor<'static>),
}

/// What Parquet calls a compression; `None` for one that pages do not have.
pub fn codec_of(compression: Compression) -> Option<Codec> {
    match compression {
        Compression::None => Some(Codec::UNCOMPRESSED),
        Compression::Snappy => Some(Codec::SNAPPY),
        Compression::Lz4 => Some(Codec::LZ4_RAW),
        Compression::Zstd => Some(Codec::ZSTD(ZstdLevel::default())),
        Compression::Gzip => None,
    }
}

impl PageCodec {
    /// One of those that [`codec_of`] gives.
    pub fn new(codec: Codec) -> Result<PageCodec> {
        let way = match codec {
            Codec::UNCOMPRESSED => Way::None,
            Codec::SNAPPY => Way::Snappy(Box::new(snap::raw::Encoder::new())),
            Codec::LZ4_RAW => Way::Lz4,
            Codec::ZSTD(level) => Way::Zstd(zstd::bulk::Compressor::new(level.compression_level())?),
            other => return Err(ParquetError::NYI(format!("pages compressed by {other}"))),
        };
        Ok(PageCodec {
            codec,
            way,
            out: Vec::new(),
        })
    }

    /// What the pages are compressed by.
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// A page as it lies in the file.
    pub fn compress<'a>(&'a mut self, page: &'a [u8]) -> Result<&'a [u8]> {
        let most = match &self.way {
            Way::None => return Ok(page),
            Way::Snappy(_) => snap::raw::max_compress_len(page.len()),
            Way::Lz4 => lz4_flex::block::get_maximum_output_size(page.len()),
            Way::Zstd(_) => zstd::zstd_safe::compress_bound(page.len()),
        };
        if self.out.len() < most {
            self.out.resize(most, 0);
        }
        let failed =
            |e: &dyn std::error::Error| ParquetError::General(format!("a page of {} bytes: {e}", page.len()));
        let length = match &mut self.way {
            Way::None => return Ok(page),
            Way::Snappy(encoder) => encoder.compress(page, &mut self.out).map_err(|e| failed(&e))?,
            Way::Lz4 => lz4_flex::block::compress_into(page, &mut self.out).map_err(|e| failed(&e))?,
            Way::Zstd(compressor) => compressor.compress_to_buffer(page, &mut self.out)?,
        };
        Ok(&self.out[..length])
    }
}
