//! From data to places on the page: ranges, ticks and their labels.

/// A range of data on a stretch of the page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    /// Range in data, or its decimal logarithm.
    low: f64,
    high: f64,
    logarithmic: bool,
    /// Where the ends of the range lie on the page.
    from: f64,
    to: f64,
}

/// A mark on an axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    /// Place on the page.
    pub place: f64,
    /// Number, without the common power of ten.
    pub text: String,
    /// The number is an exponent of ten.
    pub power: bool,
}

impl Scale {
    /// Covers all finite values (all positive ones on a logarithmic scale). `pad` widens the range
    /// by this part on both sides.
    pub fn covering(
        values: impl Iterator<Item = f64>,
        logarithmic: bool,
        pad: f64,
        page: [f64; 2],
    ) -> Self {
        let usable = |v: &f64| v.is_finite() && (!logarithmic || *v > 0.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(usable) {
            let value = if logarithmic { value.log10() } else { value };
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = if logarithmic { (-1.0, 0.0) } else { (0.0, 1.0) };
        }
        if logarithmic {
            (low, high) = (low.floor(), high.ceil());
            if high - low < 1.0 {
                high = low + 1.0;
            }
        } else {
            let width = high - low;
            let size = low.abs().max(high.abs());
            if width <= 1e-9 * size || width == 0.0 {
                let half = if size > 0.0 { 0.5 * size } else { 0.5 };
                (low, high) = (low - half, high + half);
            } else {
                (low, high) = (low - pad * width, high + pad * width);
            }
        }
        Self {
            low,
            high,
            logarithmic,
            from: page[0],
            to: page[1],
        }
    }

    /// Place of a value; none for one that has no place.
    pub fn place(&self, value: f64) -> Option<f64> {
        let at = if self.logarithmic {
            value.log10()
        } else {
            value
        };
        let place = self.from + (self.to - self.from) * (at - self.low) / (self.high - self.low);
        place.is_finite().then_some(place)
    }

    /// About `count` round numbers in the range, and the power of ten they are given in.
    pub fn ticks(&self, count: usize) -> (Vec<Tick>, i32) {
        if self.logarithmic {
            return (self.decades(count), 0);
        }
        let step = round_step((self.high - self.low) / count.max(1) as f64);
        let largest = self.low.abs().max(self.high.abs());
        let magnitude = largest.log10().floor() as i32;
        let exponent = if (-2..=4).contains(&magnitude) {
            0
        } else {
            magnitude.div_euclid(3) * 3
        };
        let unit = 10f64.powi(exponent);
        let decimals = (-(step / unit).log10().floor()).max(0.0) as usize;
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        let ticks = (first..=last)
            .filter_map(|i| {
                let value = i as f64 * step;
                Some(Tick {
                    place: self.place(value)?,
                    text: format!("{:.decimals$}", value / unit + 0.0).replace('-', "\u{2212}"),
                    power: false,
                })
            })
            .collect();
        (ticks, exponent)
    }

    fn decades(&self, count: usize) -> Vec<Tick> {
        let (low, high) = (self.low as i64, self.high as i64);
        let step = ((high - low) as usize).div_ceil(count.max(1)).max(1);
        (low..=high)
            .step_by(step)
            .map(|exponent| Tick {
                place: self.from
                    + (self.to - self.from) * (exponent as f64 - self.low) / (self.high - self.low),
                text: exponent.to_string().replace('-', "\u{2212}"),
                power: true,
            })
            .collect()
    }
}

/// The round number (1, 2 or 5 times a power of ten) not below `step`.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let lead = step / power;
    let round = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|r| lead <= r * (1.0 + 1e-9));
    power * round.unwrap_or(10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(low: f64, high: f64) -> (Vec<String>, i32) {
        let scale = Scale::covering([low, high].into_iter(), false, 0.0, [0.0, 100.0]);
        let (ticks, exponent) = scale.ticks(5);
        (ticks.into_iter().map(|t| t.text).collect(), exponent)
    }

    #[test]
    fn ticks_are_round_and_cover_the_range() {
        assert_eq!(
            texts(0.0, 1.0).0,
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(texts(-1.75, 1.75).0, ["\u{2212}1", "0", "1"]);
        assert_eq!(
            texts(0.0, 5e6),
            (
                vec!["0", "1", "2", "3", "4", "5"]
                    .into_iter()
                    .map(String::from)
                    .collect(),
                6
            )
        );
        assert_eq!(texts(0.0, 2e-4).1, -6);
    }

    #[test]
    fn ends_of_the_range_are_ends_on_the_page() {
        let scale = Scale::covering([2.0, 4.0].into_iter(), false, 0.0, [10.0, 50.0]);
        assert_eq!(
            [scale.place(2.0), scale.place(4.0)],
            [Some(10.0), Some(50.0)]
        );
        assert_eq!(scale.place(f64::NAN), None);
    }

    #[test]
    fn decades_are_whole() {
        let scale = Scale::covering([3e-7, 0.02, 0.0].into_iter(), true, 0.0, [0.0, 6.0]);
        let (ticks, _) = scale.ticks(6);
        assert_eq!(ticks.first().map(|t| t.text.as_str()), Some("\u{2212}7"));
        assert_eq!(ticks.last().map(|t| t.text.as_str()), Some("\u{2212}1"));
        assert_eq!(scale.place(0.0), None);
    }

    #[test]
    fn a_constant_still_has_a_range() {
        let scale = Scale::covering([3.0, 3.0].into_iter(), false, 0.1, [0.0, 1.0]);
        assert_eq!(scale.place(3.0), Some(0.5));
        let empty = Scale::covering(std::iter::empty(), false, 0.1, [0.0, 1.0]);
        assert!(empty.ticks(5).0.len() > 1);
    }
}
