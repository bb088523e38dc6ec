//! What a map suggests to write into the mechanism file.

use super::{Edge, ILL_CONDITIONED, NEAR, Place, Scan, Suggestion};
use crate::description::mechanism::{InternalModes, Mechanism};
use crate::modes::SMALLEST_OVERLAP;
use crate::reduced_model::Domain;
use crate::reduction::LocalReducer;

/// Overlap below which modes are about to lose their meaning.
const POOR_OVERLAP: f64 = 1.5 * SMALLEST_OVERLAP;
/// Part of a range that stays between a suggested end and what cannot be reached.
const CLEARANCE: f64 = 0.02;

pub(super) fn suggestions(
    scan: &Scan,
    mechanism: &Mechanism,
    domain: &Domain,
    reducer: &LocalReducer,
) -> Vec<Suggestion> {
    let home = reducer.kinematics().home();
    let mut all = Vec::new();
    if scan.places.iter().any(|p| is_bad(domain, p)) {
        all.push(ranges(scan, domain, home));
        all.extend(inequality(scan, domain, home));
    }
    all.extend(modes(scan, mechanism));
    all.extend(mass(scan, mechanism));
    all
}

/// It cannot be reached or reduced, or is next to where that ends, and the inequalities do not exclude it.
fn is_bad(domain: &Domain, place: &Place) -> bool {
    let near = place.regularity.is_some_and(|r| r < NEAR);
    (place.failure.is_some() || near) && domain.admits(&place.theta)
}

/// The largest box around home that is found by giving up, end after end, what costs the fewest good points.
fn ranges(scan: &Scan, domain: &Domain, home: &[f64]) -> Suggestion {
    let (mut lower, mut upper) = (domain.lower.clone(), domain.upper.clone());
    let s = lower.len();
    let inside = |lower: &[f64], upper: &[f64], p: &[f64]| {
        (0..s).all(|k| (lower[k]..=upper[k]).contains(&p[k]))
    };
    loop {
        let within: Vec<&Place> = (scan.places.iter())
            .filter(|p| inside(&lower, &upper, &p.theta) && domain.admits(&p.theta))
            .collect();
        let bad: Vec<&&Place> = within.iter().filter(|p| is_bad(domain, p)).collect();
        let Some(worst) = bad.iter().min_by(|a, b| {
            // The one nearest to home limits the box whatever is given up elsewhere.
            distance(domain, home, &a.theta).total_cmp(&distance(domain, home, &b.theta))
        }) else {
            break;
        };
        let cuts = (0..s).filter(|k| worst.theta[*k] != home[*k]);
        let lost = |k: &usize| {
            let beyond = |p: &&&Place| {
                (p.theta[*k] - home[*k]) / (worst.theta[*k] - home[*k]) >= 1.0 && !is_bad(domain, p)
            };
            within.iter().filter(beyond).count()
        };
        let Some(k) = cuts.min_by_key(lost) else {
            break;
        };
        // A map of few points has wide gaps: the edge between two of them is closer to the truth.
        let end = scan.edges.iter().filter(|e| e.outside[k] != e.inside[k]);
        let end = end.filter(|e| e.inside[k] <= upper[k] && e.inside[k] >= lower[k]);
        let toward = (worst.theta[k] - home[k]).signum();
        let reach = |e: &Edge| (e.inside[k] - home[k]) * toward;
        let step = 0.5 * (domain.upper[k] - domain.lower[k])
            / scan.grid.get(k).map_or(8.0, |n| (*n - 1) as f64);
        let coarse = (worst.theta[k] - home[k]).abs() - step;
        let fine = end
            .map(reach)
            .filter(|r| *r > 0.0 && *r < coarse + 2.0 * step)
            .fold(f64::INFINITY, f64::min);
        let clear = CLEARANCE * (domain.upper[k] - domain.lower[k]);
        let kept = if fine.is_finite() {
            fine - clear
        } else {
            coarse
        }
        .max(0.0);
        match toward > 0.0 {
            true => upper[k] = upper[k].min(home[k] + kept),
            false => lower[k] = lower[k].max(home[k] - kept),
        }
    }
    let bad = scan.places.iter().filter(|p| is_bad(domain, p)).count();
    let changed = |k: &usize| lower[*k] != domain.lower[*k] || upper[*k] != domain.upper[*k];
    let lines: Vec<String> = (0..s)
        .filter(changed)
        .map(|k| {
            let name = &scan.coordinates[k];
            format!(
                "range = [{}, {}]  # {name}",
                short(lower[k], true),
                short(upper[k], false)
            )
        })
        .collect();
    Suggestion {
        fact: format!(
            "{bad} of {} configurations cannot be reached or reduced, or are near a singularity; the ranges around home without them",
            scan.places.len()
        ),
        paste: lines.join("\n"),
    }
}

/// One inequality that cuts off all that is bad, where it keeps every good point but a few.
fn inequality(scan: &Scan, domain: &Domain, home: &[f64]) -> Option<Suggestion> {
    let s = home.len();
    if s < 2 {
        return None;
    }
    let width = |k: usize| domain.upper[k] - domain.lower[k];
    let admitted = || scan.places.iter().filter(|p| domain.admits(&p.theta));
    let bad: Vec<&Place> = admitted().filter(|p| is_bad(domain, p)).collect();
    let normal: Vec<f64> = (0..s)
        .map(|k| {
            bad.iter().map(|p| p.theta[k] - home[k]).sum::<f64>()
                / (bad.len() as f64 * width(k).powi(2))
        })
        .collect();
    let size = normal.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
    if size <= 0.0 {
        return None;
    }
    let normal: Vec<f64> = normal
        .iter()
        .map(|c| {
            if c.abs() < 0.05 * size {
                0.0
            } else {
                (c / size * 100.0).round() / 100.0
            }
        })
        .collect();
    let along = |theta: &[f64]| normal.iter().zip(theta).map(|(c, t)| c * t).sum::<f64>();
    let first = bad
        .iter()
        .map(|p| along(&p.theta))
        .fold(f64::INFINITY, f64::min);
    let spread: f64 = (0..s).map(|k| (normal[k] * width(k)).abs()).sum();
    let bound = first - CLEARANCE * spread;
    if along(home) >= bound {
        return None;
    }
    let lost = admitted()
        .filter(|p| !is_bad(domain, p) && along(&p.theta) > bound)
        .count();
    let good = admitted().count() - bad.len();
    if 4 * lost > good {
        return None;
    }
    let named: Vec<String> = (0..s)
        .filter(|k| normal[*k] != 0.0)
        .map(|k| format!("\"{}\" = {}", scan.coordinates[k], normal[k]))
        .collect();
    Some(Suggestion {
        fact: format!("one inequality cuts them off and {lost} of {good} good configurations"),
        paste: format!(
            "[domain]\ninequalities = [{{ coefficients = {{ {} }}, at_most = {} }}]",
            named.join(", "),
            short(bound, false)
        ),
    })
}

/// More modes where they are about to lose their meaning.
fn modes(scan: &Scan, mechanism: &Mechanism) -> Option<Suggestion> {
    let (place, overlap) = scan.lowest(|p| p.overlap)?;
    if overlap >= POOR_OVERLAP {
        return None;
    }
    let now = match mechanism.reduction.internal.as_ref()? {
        InternalModes::Lowest(count) => *count,
        _ => return None,
    };
    Some(Suggestion {
        fact: format!(
            "at θ = {:.4?} the internal modes overlap by {overlap:.2} with those of the reference, of which {SMALLEST_OVERLAP} are needed",
            place.theta
        ),
        paste: format!("[reduction]\ninternal_modes = {}", now + 2),
    })
}

/// Inertia of the rotor where the mass is nearly singular.
fn mass(scan: &Scan, mechanism: &Mechanism) -> Option<Suggestion> {
    let negative = |p: &Place| p.mass_condition.map(|c| -c);
    let (place, worst) = scan.lowest(negative)?;
    if -worst < ILL_CONDITIONED {
        return None;
    }
    let bare = mechanism
        .coordinates
        .iter()
        .find(|c| c.stiffness.is_some() && c.rotor_inertia == 0.0);
    let fact = format!(
        "at θ = {:.4?} the condition of the reduced mass is {:.1e}: models lose as many digits",
        place.theta, -worst
    );
    Some(match bare {
        Some(coordinate) => Suggestion {
            fact: format!(
                "{fact}; `{}` has a stiffness and no rotor inertia, so that nothing resists its motor side",
                coordinate.name
            ),
            paste: format!(
                "rotor_inertia = 1e-3  # {}: the motor's, times ratio squared",
                coordinate.name
            ),
        },
        None => Suggestion {
            fact: format!("{fact}; two coordinates move nearly the same masses"),
            paste: String::new(),
        },
    })
}

/// Distance in units of the ranges.
fn distance(domain: &Domain, a: &[f64], b: &[f64]) -> f64 {
    let part = |k: usize| (a[k] - b[k]) / (domain.upper[k] - domain.lower[k]);
    (0..a.len()).map(|k| part(k).powi(2)).sum()
}

/// Three decimals of the leading digit, rounded towards the inside.
fn short(value: f64, is_lower: bool) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let unit = 10f64.powi(value.abs().log10().floor() as i32 - 3);
    let steps = value / unit;
    let rounded = if is_lower {
        steps.ceil()
    } else {
        steps.floor()
    };
    // Decimal digits again: the product has binary dust.
    format!("{:.12e}", rounded * unit).parse().unwrap_or(value)
}
