//! Gauges built on exact eigenmodes: `subspace` and `track`.
//!
//! Both need derivatives of eigenvectors with respect to all others: known modes enter by modal
//! expansion, the rest by a fixed-point iteration of the compliance that contracts by the ratio
//! of the kept to the first unknown eigenvalue.

use super::filtered::{Gauged, rotate_towards};
use super::reference::{in_plane_energy, internal_modes, separated};
use super::{Linearised, ModesError, Reference};
use crate::description::mechanism::InternalModes;
use crate::spectrum::NaturalModes;
use faer::Mat;

/// Smallest relative gap between the last kept and the next frequency in `subspace`.
pub const SMALLEST_GAP: f64 = 0.05;
/// Smallest overlap with the reference in `subspace` and `filtered`.
pub const SMALLEST_OVERLAP: f64 = 0.3;
/// Smallest modal assurance criterion in `track` [T 5.4.3].
pub const SMALLEST_MAC: f64 = 0.95;

/// The lowest eigenmodes of the reference's class, turned towards the reference shapes.
pub(super) fn subspace(at: &Linearised<'_>, reference: &Reference) -> Result<Gauged, ModesError> {
    let k = reference.shapes.ncols();
    let (modes, class) = class_modes(at, reference, k + 1)?;
    let (kept, next) = (&class[..k], class.get(k));
    if let Some(&next) = next {
        let gap = modes.omega[next] / modes.omega[kept[k - 1]] - 1.0;
        if gap < SMALLEST_GAP {
            return Err(ModesError::GapTooSmall {
                mode: k,
                frequency_hz: modes.omega[kept[k - 1]] / (2.0 * std::f64::consts::PI),
                gap,
                smallest: SMALLEST_GAP,
            });
        }
    }
    let y = columns(&modes.shapes, kept);
    let dy = derivatives(at, &modes, kept, true)?;
    rotate_towards(at, reference, &y, &dy)
}

/// Eigenmodes matched one by one to the reference shapes.
pub(super) fn track(at: &Linearised<'_>, reference: &Reference) -> Result<Gauged, ModesError> {
    let k = reference.shapes.ncols();
    let (modes, _) = class_modes(at, reference, k + 1)?;
    let (kept, signs, smallest) = match_modes(&modes, reference)?;
    let mut shapes = columns(&modes.shapes, &kept);
    let mut dy = derivatives(at, &modes, &kept, false)?;
    for matrix in std::iter::once(&mut shapes).chain(dy.iter_mut()) {
        scale(matrix, &signs);
    }
    Ok(Gauged {
        shapes,
        derivatives: dy,
        overlap: smallest,
    })
}

/// The reference for the next step of a path: the eigenmodes at `at` that match `reference`.
pub fn track_reference(
    at: &Linearised<'_>,
    reference: &Reference,
) -> Result<Reference, ModesError> {
    let k = reference.shapes.ncols();
    let (modes, _) = class_modes(at, reference, k + 1)?;
    let (kept, signs, _) = match_modes(&modes, reference)?;
    let mut shapes = columns(&modes.shapes, &kept);
    scale(&mut shapes, &signs);
    Ok(Reference {
        mass_shapes: at.model.mass_times(&shapes),
        shapes,
        omega: kept.iter().map(|&i| modes.omega[i]).collect(),
        indices: kept,
        selection: reference.selection.clone(),
    })
}

/// For each reference shape the eigenmode with the largest MAC and its sign.
fn match_modes(
    modes: &NaturalModes,
    reference: &Reference,
) -> Result<(Vec<usize>, Vec<f64>, f64), ModesError> {
    let overlap = modes.shapes.transpose() * &reference.mass_shapes;
    let mut kept = Vec::new();
    let mut signs = Vec::new();
    let mut smallest = 1.0_f64;
    for j in 0..reference.shapes.ncols() {
        let norm = reference_norm(reference, j);
        let mac = |i: usize| overlap[(i, j)] * overlap[(i, j)] / norm;
        let best = (0..modes.omega.len())
            .max_by(|&a, &b| mac(a).total_cmp(&mac(b)))
            .unwrap_or(0);
        let rival = (0..modes.omega.len())
            .filter(|&i| i != best)
            .max_by(|&a, &b| mac(a).total_cmp(&mac(b)));
        if mac(best) < SMALLEST_MAC || kept.contains(&best) {
            let to_hz = |i: usize| modes.omega[i] / (2.0 * std::f64::consts::PI);
            return Err(ModesError::TrackLost {
                mode: j,
                mac: mac(best),
                frequency_hz: to_hz(best),
                rival_hz: rival.map_or(f64::NAN, to_hz),
            });
        }
        smallest = smallest.min(mac(best));
        signs.push(overlap[(best, j)].signum());
        kept.push(best);
    }
    Ok((kept, signs, smallest))
}

fn reference_norm(reference: &Reference, j: usize) -> f64 {
    reference
        .shapes
        .col_as_slice(j)
        .iter()
        .zip(reference.mass_shapes.col_as_slice(j))
        .map(|(a, b)| a * b)
        .sum()
}

/// The lowest frequencies (Hz) of the reference's class.
pub fn class_frequencies_hz(
    at: &Linearised<'_>,
    reference: &Reference,
    count: usize,
) -> Result<Vec<f64>, ModesError> {
    let (modes, class) = class_modes(at, reference, count)?;
    let all = modes.frequencies_hz();
    Ok(class.iter().take(count).map(|&i| all[i]).collect())
}

/// Enough of the lowest modes to hold `count` of the reference's class (fewer where there are
/// fewer), and the positions of that class.
fn class_modes(
    at: &Linearised<'_>,
    reference: &Reference,
    count: usize,
) -> Result<(NaturalModes, Vec<usize>), ModesError> {
    let mut total = count + 4;
    loop {
        let mut modes = internal_modes(at, total)?;
        if let InternalModes::InPlane(plane, _) | InternalModes::OutOfPlane(plane, _) =
            reference.selection
        {
            modes = separated(at, modes, plane)?;
        }
        let class: Vec<usize> = (0..modes.omega.len())
            .filter(|&i| match reference.selection {
                InternalModes::InPlane(plane, _) => {
                    in_plane_energy(at, &modes.shapes, i, plane) > 0.5
                }
                InternalModes::OutOfPlane(plane, _) => {
                    in_plane_energy(at, &modes.shapes, i, plane) < 0.5
                }
                InternalModes::Lowest(_) | InternalModes::Select(_) => true,
            })
            .collect();
        // A margin above the last wanted mode lets the derivative's iteration contract quickly.
        let margin = class
            .get(count.saturating_sub(1))
            .is_some_and(|&last| last + 4 <= modes.omega.len());
        if margin || modes.omega.len() < total {
            if class.len() + 1 < count {
                return Err(ModesError::TooFewModes {
                    wanted: count - 1,
                    found: class.len(),
                });
            }
            return Ok((modes, class));
        }
        total *= 2;
    }
}

fn columns(from: &Mat<f64>, which: &[usize]) -> Mat<f64> {
    Mat::from_fn(from.nrows(), which.len(), |i, j| from[(i, which[j])])
}

/// Derivatives of eigenvectors along θ; for a whole subspace up to rotations within it.
fn derivatives(
    at: &Linearised<'_>,
    modes: &NaturalModes,
    kept: &[usize],
    whole_subspace: bool,
) -> Result<Vec<Mat<f64>>, ModesError> {
    let x = columns(&modes.shapes, kept);
    let mass_x = at.model.mass_times(&x);
    let squares: Vec<f64> = kept.iter().map(|&i| modes.omega[i].powi(2)).collect();
    let mut inertia = mass_x.clone();
    scale(&mut inertia, &squares);
    let (_, lambda) = at.static_response(&inertia, None)?;
    let mass_modes = at.model.mass_times(&modes.shapes);
    (0..at.velocities.len())
        .map(|l| {
            let zero = Mat::zeros(x.nrows(), x.ncols());
            let (particular, _) = at.static_response_rate(l, zero, &x, &lambda)?;
            let overlap = mass_modes.transpose() * &particular;
            let mut d = particular.clone();
            let mut rest = particular - &modes.shapes * &overlap;
            for _ in 0..400 {
                let mut force = at.model.mass_times(&rest);
                scale(&mut force, &squares);
                let (next, _) = at.static_response(&force, None)?;
                // Rounding must not grow in the modes that are already accounted for.
                let spill = mass_modes.transpose() * &next;
                rest = next - &modes.shapes * &spill;
                d += &rest;
                if rest.norm_max() <= 1e-17 * d.norm_max() {
                    break;
                }
            }
            for (j, square) in squares.iter().enumerate() {
                for (m, omega) in modes.omega.iter().enumerate() {
                    let same = if whole_subspace {
                        kept.contains(&m)
                    } else {
                        m == kept[j]
                    };
                    let factor = if same {
                        // The part along the kept modes is fixed by the normalisation.
                        -overlap[(m, j)]
                    } else {
                        square * overlap[(m, j)] / (omega * omega - square)
                    };
                    for i in 0..d.nrows() {
                        d[(i, j)] += factor * modes.shapes[(i, m)];
                    }
                }
            }
            Ok(d)
        })
        .collect()
}

fn scale(y: &mut Mat<f64>, factors: &[f64]) {
    for (j, factor) in factors.iter().enumerate() {
        y.col_as_slice_mut(j).iter_mut().for_each(|v| *v *= factor);
    }
}
