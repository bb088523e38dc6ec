//! What a run may take of the machine: memory and time.

use reducer::reduced_model::CutShort;
use std::time::{Duration, Instant};

/// Bytes of samples in memory where nothing is said: what is beyond is read from disk, which the
/// system buffers.
const USUAL: u64 = 1 << 30;
/// Of all memory, one part in so many is taken at most where nothing is said.
const PART: u64 = 4;

/// What was typed of it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// Bytes that the process may take.
    memory: Option<u64>,
    /// When the refinement is to end.
    end: Option<Instant>,
}

impl Limits {
    /// Time counts from now.
    pub fn new(memory: Option<u64>, time: Option<Duration>) -> Self {
        Self {
            memory,
            end: time.and_then(|time| Instant::now().checked_add(time)),
        }
    }

    /// Bytes of samples that may be in memory: half of what was allowed, the rest is for fits and tables.
    pub fn for_samples(&self) -> usize {
        let bytes = match self.memory {
            Some(allowed) => allowed / 2,
            None => told("/proc/meminfo", "MemTotal:").map_or(USUAL, |all| USUAL.min(all / PART)),
        };
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    /// The limit that is reached. Where the system does not tell, memory is bounded by the samples alone.
    pub fn reached(&self) -> Option<CutShort> {
        if self.end.is_some_and(|end| Instant::now() >= end) {
            return Some(CutShort::Time);
        }
        let taken = || told("/proc/self/status", "VmRSS:");
        let over = self
            .memory
            .is_some_and(|most| taken().is_some_and(|now| now > most));
        over.then_some(CutShort::Memory)
    }
}

/// A size in kB from a file in which Linux tells it, in bytes.
fn told(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number = line.trim().strip_suffix("kB")?;
    number.trim().parse::<u64>().ok().map(|kilo| kilo << 10)
}

/// A size as people write it: `800M`, `4G`, `2GiB`, or bytes.
pub fn size(text: &str) -> Result<u64, String> {
    let units = [
        ("", 1.0),
        ("K", 1024.0),
        ("M", 1_048_576.0),
        ("G", 1_073_741_824.0),
    ];
    let short = text.trim().trim_end_matches('B').trim_end_matches('i');
    let (number, factor) = split(short, &units)
        .ok_or_else(|| format!("`{text}` is no size; write for example 800M or 4G"))?;
    let bytes = number * factor;
    if bytes < LEAST_MEMORY {
        return Err("at least 64M are needed".to_owned());
    }
    Ok(bytes as u64)
}

/// Below this not even one fit is certain to find its place.
const LEAST_MEMORY: f64 = 67_108_864.0;

/// A time as people write it: `90`, `90s`, `5m`, `1.5h`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let units = [
        ("", 1.0),
        ("s", 1.0),
        ("m", 60.0),
        ("min", 60.0),
        ("h", 3600.0),
    ];
    let (number, factor) = split(text.trim(), &units)
        .ok_or_else(|| format!("`{text}` is no time; write for example 90s, 5m or 2h"))?;
    Duration::try_from_secs_f64(number * factor).map_err(|e| format!("`{text}`: {e}"))
}

/// A finite number that is not negative, and the factor of its unit.
fn split(text: &str, units: &[(&str, f64)]) -> Option<(f64, f64)> {
    let end = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.trim().parse().ok()?;
    let factor = units.iter().find(|(name, _)| *name == unit)?.1;
    (number.is_finite() && number >= 0.0).then_some((number, factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_read_as_people_write_them() {
        assert_eq!(size("4G"), Ok(4 << 30));
        assert_eq!(size("800 M"), Ok(800 << 20));
        assert_eq!(size("1.5GiB"), Ok(3 << 29));
        assert_eq!(size("134217728"), Ok(1 << 27));
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1.5h"), Ok(Duration::from_secs(5400)));
        assert_eq!(duration("5min"), Ok(Duration::from_secs(300)));
        for wrong in ["", "G", "-1G", "1T", "1e400G", "nanG", "10", "1M"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "s", "-1", "3d", "inf", "1e300h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_limit_is_reached_or_not() {
        assert_eq!(Limits::default().reached(), None);
        let now = Limits::new(None, Some(Duration::ZERO));
        assert_eq!(now.reached(), Some(CutShort::Time));
        let later = Limits::new(Some(u64::MAX), Some(Duration::from_secs(3600)));
        assert_eq!(later.reached(), None);
        assert!(Limits::default().for_samples() <= 1 << 30);
        assert_eq!(Limits::new(Some(1 << 30), None).for_samples(), 1 << 29);
    }
}
