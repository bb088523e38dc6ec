//! Archives in the format that FMUs have: deflated files without times, so that equal content gives equal bytes.

/// 1 January 1980, the first day of the format.
const DATE: u16 = 0x0021;
const DEFLATED: u16 = 8;
const VERSION: u16 = 20;
/// Names are UTF-8.
const FLAGS: u16 = 0x0800;
const LEVEL: u8 = 6;

struct Place<'a> {
    name: &'a str,
    crc: u32,
    packed: u32,
    plain: u32,
    offset: u32,
}

impl Place<'_> {
    /// What the local header and the directory have in common.
    fn facts(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for word in [VERSION, FLAGS, DEFLATED, 0, DATE] {
            out.extend(word.to_le_bytes());
        }
        for long in [self.crc, self.packed, self.plain] {
            out.extend(long.to_le_bytes());
        }
        out.extend((self.name.len() as u16).to_le_bytes());
        out.extend(0u16.to_le_bytes());
        out
    }
}

/// One archive of files, in their order; names have forward slashes.
pub(super) fn archive(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut directory = Vec::new();
    for (name, bytes) in files {
        let packed = miniz_oxide::deflate::compress_to_vec(bytes, LEVEL);
        let place = Place {
            name,
            crc: crc32fast::hash(bytes),
            packed: packed.len() as u32,
            plain: bytes.len() as u32,
            offset: out.len() as u32,
        };
        out.extend(b"PK\x03\x04");
        out.extend(place.facts());
        out.extend(name.as_bytes());
        out.extend(packed);
        directory.extend(b"PK\x01\x02");
        directory.extend(VERSION.to_le_bytes());
        directory.extend(place.facts());
        // No comment, first disk, no attributes.
        directory.extend([0; 10]);
        directory.extend(place.offset.to_le_bytes());
        directory.extend(place.name.as_bytes());
    }
    let (start, size, count) = (out.len() as u32, directory.len() as u32, files.len() as u16);
    out.extend(directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(count.to_le_bytes());
    out.extend(count.to_le_bytes());
    out.extend(size.to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend(0u16.to_le_bytes());
    out
}
