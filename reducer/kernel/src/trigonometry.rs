//! Cosine and sine without a standard library.

/// π/2 in parts: the first two have 33 bits, so that their multiples up to 2^20 are exact.
const HALF_PI: [f64; 3] = [
    1.570_796_326_734_125_6,
    6.077_100_506_303_966e-11,
    2.022_266_248_795_950_6e-21,
];

/// Taylor's coefficients of (cos x − 1 + x²/2)/x⁴ in x², the highest first; for |x| ≤ π/4 the next one adds
/// 2e-18.
const COSINE: [f64; 7] = [
    1.0 / 20_922_789_888_000.0,
    -1.0 / 87_178_291_200.0,
    1.0 / 479_001_600.0,
    -1.0 / 3_628_800.0,
    1.0 / 40_320.0,
    -1.0 / 720.0,
    1.0 / 24.0,
];

/// Those of (sin x − x)/x³; the next one adds 8e-20.
const SINE: [f64; 8] = [
    1.0 / 355_687_428_096_000.0,
    -1.0 / 1_307_674_368_000.0,
    1.0 / 6_227_020_800.0,
    -1.0 / 39_916_800.0,
    1.0 / 362_880.0,
    -1.0 / 5_040.0,
    1.0 / 120.0,
    -1.0 / 6.0,
];

fn horner(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, c| sum * x + c)
}

/// cos x and sin x, to about the last bit for |x| up to a million.
pub fn cosine_sine(x: f64) -> (f64, f64) {
    let quarters = x / (HALF_PI[0] + HALF_PI[1]);
    let nearest = (quarters + if quarters < 0.0 { -0.5 } else { 0.5 }) as i64;
    let n = nearest as f64;
    let r = ((x - n * HALF_PI[0]) - n * HALF_PI[1]) - n * HALF_PI[2];
    let square = r * r;
    let cosine = (1.0 - 0.5 * square) + square * square * horner(&COSINE, square);
    let sine = r + r * square * horner(&SINE, square);
    match nearest & 3 {
        0 => (cosine, sine),
        1 => (-sine, cosine),
        2 => (-cosine, -sine),
        _ => (sine, -cosine),
    }
}
