//! Arrays of numbers in a JSON document.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Single precision, little endian, base64; what is not finite becomes NaN.
pub(super) fn packed(values: impl IntoIterator<Item = f64>) -> Value {
    let bytes: Vec<u8> = values
        .into_iter()
        .flat_map(|v| {
            let single = v as f32;
            let finite = if single.is_finite() { single } else { f32::NAN };
            finite.to_le_bytes()
        })
        .collect();
    Value::String(STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_little_endian_singles() {
        assert_eq!(packed([1.0, -2.5]), Value::String("AACAPwAAIMA=".into()));
    }

    #[test]
    fn numbers_beyond_single_precision_are_gaps() {
        assert_eq!(packed([1e300]), packed([f64::NAN]));
    }
}
