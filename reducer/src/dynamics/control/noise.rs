//! Random numbers that depend on a seed and a count alone.

/// A normally distributed number of mean 0 and deviation 1 [Box and Muller 1958].
pub(super) fn normal(seed: u64, count: u64) -> f64 {
    let first = uniform(mixed(seed ^ mixed(2 * count)));
    let second = uniform(mixed(seed ^ mixed(2 * count + 1)));
    (-2.0 * first.ln()).sqrt() * (std::f64::consts::TAU * second).cos()
}

/// In (0, 1].
fn uniform(bits: u64) -> f64 {
    ((bits >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// The finaliser of SplitMix64 [Steele, Lea and Flood 2014].
fn mixed(bits: u64) -> u64 {
    let z = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::normal;

    #[test]
    fn mean_and_deviation() {
        let values: Vec<f64> = (0..100_000).map(|k| normal(7, k)).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
        let neighbours = values.windows(2).map(|p| p[0] * p[1]).sum::<f64>() / n;
        assert!(
            mean.abs() < 0.01 && (variance - 1.0).abs() < 0.02,
            "{mean} {variance}"
        );
        assert!(neighbours.abs() < 0.015, "{neighbours}");
    }
}
