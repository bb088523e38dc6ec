//! What a model says of its coordinates, domain and parameters.

use super::super::refuse;
use super::{Read, Reader, counts, flags, named, same_length};
use reducer::reduced_model::*;

pub(super) fn read_layout(r: &mut Reader) -> Read<ModelLayout> {
    let [name] = r.texts("layout/name")?;
    let sizes = counts(&r.integer("layout/sizes"), "layout/sizes")?;
    let &[n_rigid, full_dofs] = sizes.as_slice() else {
        return Err(refuse(
            "layout/sizes",
            format!("{} numbers where 2 belong", sizes.len()),
        ));
    };
    if !(1..=limits::RIGID).contains(&n_rigid) {
        return Err(refuse(
            "layout/sizes",
            format!("{n_rigid} actuated coordinates"),
        ));
    }
    let (names, kinds, units) = (
        r.text("layout/coordinate_name"),
        r.text("layout/coordinate_kind"),
        r.text("layout/coordinate_unit"),
    );
    same_length("layout/coordinate_kind", kinds.len(), names.len())?;
    same_length("layout/coordinate_unit", units.len(), names.len())?;
    let coordinates: Read<Vec<CoordinateInfo>> = names
        .into_iter()
        .zip(kinds)
        .zip(units)
        .map(|((name, kind), unit)| {
            Ok(CoordinateInfo {
                name,
                kind: named(kind, "layout/coordinate_kind")?,
                unit,
            })
        })
        .collect();
    let bounds = r.real("layout/inequality_bound");
    let coefficients = r.real("layout/inequality_coefficients");
    same_length(
        "layout/inequality_coefficients",
        coefficients.len(),
        bounds.len().saturating_mul(n_rigid),
    )?;
    let rows = coefficients.chunks_exact(n_rigid).zip(bounds);
    Ok(ModelLayout {
        name,
        coordinates: coordinates?,
        n_rigid,
        outputs: r.text("layout/output_name"),
        loaded: r.text("layout/loaded_name"),
        domain: Domain {
            lower: r.real("layout/lower"),
            upper: r.real("layout/upper"),
            periodic: flags(&r.integer("layout/periodic"), "layout/periodic")?,
            inequalities: rows
                .map(|(c, bound)| LinearInequality {
                    coefficients: c.to_vec(),
                    bound,
                })
                .collect(),
        },
        full_dofs,
        parameters: read_parameters(r)?,
        stiffening: match r.text("layout/stiffening").pop() {
            Some(word) => named(word, "layout/stiffening")?,
            None => Stiffening::None,
        },
        validity: read_validity(r, n_rigid)?,
        derived: read_derived(r)?,
    })
}

fn read_derived(r: &mut Reader) -> Read<Vec<DerivedInfo>> {
    let (names, values) = (
        r.text("layout/derived_name"),
        r.text("layout/derived_value"),
    );
    let path = "layout/derived_size";
    let sizes = counts(&r.integer(path), path)?;
    let tolerances = r.real("layout/derived_tolerance");
    same_length("layout/derived_value", values.len(), names.len())?;
    same_length(path, sizes.len(), names.len().saturating_mul(2))?;
    same_length("layout/derived_tolerance", tolerances.len(), names.len())?;
    let texts = names.into_iter().zip(values);
    let all = texts.zip(sizes.chunks_exact(2)).zip(tolerances);
    Ok(all
        .map(|(((name, value), size), tolerance)| DerivedInfo {
            name,
            value,
            rows: size[0],
            columns: size[1],
            tolerance,
        })
        .collect())
}

fn read_validity(r: &mut Reader, n_rigid: usize) -> Read<Option<Validity>> {
    let (motion, changes) = (r.real("layout/motion"), r.real("layout/stiffness_change"));
    if motion.is_empty() && changes.is_empty() {
        return Ok(None);
    }
    same_length("layout/motion", motion.len(), 4 * n_rigid)?;
    same_length("layout/stiffness_change", changes.len(), 4)?;
    let column = |c: usize| -> Vec<Option<f64>> {
        let rows = motion.chunks_exact(4);
        rows.map(|row| Some(row[c]).filter(|v| !v.is_nan()))
            .collect()
    };
    Ok(Some(Validity {
        rate: column(0),
        acceleration: column(1),
        loads_change: changes[0],
        rate_change: changes[1],
        acceleration_change: changes[2],
        tolerance: changes[3],
        rate_at_tolerance: column(2),
        acceleration_at_tolerance: column(3),
    }))
}

fn read_parameters(r: &mut Reader) -> Read<NominalParameters> {
    let gravity = r.real("layout/gravity");
    same_length("layout/gravity", gravity.len(), 3)?;
    let path = "layout/gravity_at_runtime";
    let free = flags(&r.integer(path), path)?;
    same_length(path, free.len(), 1)?;
    Ok(NominalParameters {
        gravity: [gravity[0], gravity[1], gravity[2]],
        gravity_at_runtime: free[0],
        payload_mass: r.real("layout/payload_mass"),
        rotor_inertia: r.real("layout/rotor_inertia"),
        viscous: r.real("layout/viscous"),
        coulomb: r.real("layout/coulomb"),
    })
}
