//! HDF5 files put together by hand, with checksums that hold.

/// Bob Jenkins' lookup3 (`hashlittle` with initial value 0), the checksum of HDF5's metadata.
pub fn checksum(bytes: &[u8]) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32);
    let [mut a, mut b, mut c] = [start; 3];
    let word = |part: &[u8], i: usize| {
        let byte = |k: usize| u32::from(part.get(4 * i + k).copied().unwrap_or(0));
        byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24
    };
    let mut rest = bytes;
    while rest.len() > 12 {
        a = a.wrapping_add(word(rest, 0));
        b = b.wrapping_add(word(rest, 1));
        c = c.wrapping_add(word(rest, 2));
        for (turn, step) in [4, 6, 8, 16, 19, 4].into_iter().enumerate() {
            let (x, y, z) = match turn % 3 {
                0 => (&mut a, &mut c, b),
                1 => (&mut b, &mut a, c),
                _ => (&mut c, &mut b, a),
            };
            *x = x.wrapping_sub(*y) ^ y.rotate_left(step);
            *y = y.wrapping_add(z);
        }
        rest = &rest[12..];
    }
    if rest.is_empty() {
        return c;
    }
    a = a.wrapping_add(word(rest, 0));
    b = b.wrapping_add(word(rest, 1));
    c = c.wrapping_add(word(rest, 2));
    for (turn, step) in [14, 11, 25, 16, 4, 14, 24].into_iter().enumerate() {
        let (x, y) = match turn % 3 {
            0 => (&mut c, b),
            1 => (&mut a, c),
            _ => (&mut b, a),
        };
        *x = (*x ^ y).wrapping_sub(y.rotate_left(step));
    }
    c
}

/// Makes the checksums of the superblock and of all object headers hold again.
pub fn repair(bytes: &mut [u8]) {
    if bytes.len() >= 48 {
        let sum = checksum(&bytes[..44]);
        bytes[44..48].copy_from_slice(&sum.to_le_bytes());
    }
    for start in 0..bytes.len().saturating_sub(8) {
        if &bytes[start..start + 4] != b"OHDR" {
            continue;
        }
        // Signature, version, flags, optional times and numbers, then the size of the messages.
        let flags = bytes[start + 5];
        let optional = 16 * usize::from(flags >> 5 & 1) + 4 * usize::from(flags >> 4 & 1);
        let (at, width) = (start + 6 + optional, 1 << (flags & 3));
        let Some(size) = bytes.get(at..at + width) else {
            continue;
        };
        let size = size.iter().rev().fold(0_u64, |n, b| n << 8 | u64::from(*b));
        let end = usize::try_from(size)
            .ok()
            .and_then(|n| n.checked_add(at + width));
        let Some(end) = end.filter(|end| end + 4 <= bytes.len()) else {
            continue;
        };
        let sum = checksum(&bytes[start..end]);
        bytes[end..end + 4].copy_from_slice(&sum.to_le_bytes());
    }
}

/// A file whose root group holds so many links, all of which lead to the root group itself.
pub fn links_to_itself(count: usize) -> Vec<u8> {
    let message = |kind: u8, body: &[u8]| {
        let mut out = vec![kind];
        out.extend((body.len() as u16).to_le_bytes());
        out.push(0);
        out.extend(body);
        out
    };
    // Link info without heap or index: links are messages of the header.
    let mut messages = message(2, &[&[0, 0][..], &[0xff; 16]].concat());
    // The attribute `format`, a 64-bit integer.
    let mut format = vec![2, 0, 7, 0, 12, 0, 4, 0];
    format.extend(b"format\0");
    format.extend([0x10, 8, 0, 0, 8, 0, 0, 0, 0, 0, 64, 0, 2, 0, 0, 0]);
    format.extend(i64::from(reducer::reduced_model::FORMAT).to_le_bytes());
    messages.extend(message(12, &format));
    for number in 0..count {
        let name = format!("{number:06}");
        let mut body = vec![1, 0, name.len() as u8];
        body.extend(name.as_bytes());
        body.extend(48_u64.to_le_bytes());
        messages.extend(message(6, &body));
    }
    let mut header = b"OHDR\x02\x02".to_vec();
    header.extend((messages.len() as u32).to_le_bytes());
    header.extend(&messages);
    header.extend([0; 4]);
    let mut file = b"\x89HDF\r\n\x1a\n\x03\x08\x08\x00".to_vec();
    file.extend(0_u64.to_le_bytes());
    file.extend(u64::MAX.to_le_bytes());
    file.extend((48 + header.len() as u64).to_le_bytes());
    file.extend(48_u64.to_le_bytes());
    file.extend([0; 4]);
    file.extend(header);
    repair(&mut file);
    file
}
