//! Beam sections and materials.

use super::super::fault::FaultKind;
use super::super::format::{self, Scalar, SectionOrName};
use super::super::mechanism;
use super::super::parameters::MAX_FAULTS;
use super::super::quantity::Dimension;
use super::super::suggest::closest;
use super::context::{Context, Scope};
use nalgebra::Vector3;
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::ops::Range;

/// An isotropic elastic material.
#[derive(Debug, Clone, Copy)]
pub struct Material {
    density: f64,
    young: f64,
    shear: f64,
}

/// Constants of a section.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    area: f64,
    inertia_y: f64,
    inertia_z: f64,
    torsion: f64,
    polar: f64,
    shear_y: f64,
    shear_z: f64,
}

/// Named materials and sections; `None` for one at fault.
#[derive(Debug, Default)]
pub struct Library {
    /// Materials of the file.
    pub materials: BTreeMap<String, Option<Material>>,
    /// Sections of the file.
    pub sections: BTreeMap<String, Option<Shape>>,
}

const MATERIALS: &[(&str, f64, f64, f64)] = &[
    ("steel", 7850.0, 210e9, 0.3),
    ("stainless_steel", 7900.0, 200e9, 0.3),
    ("aluminium", 2700.0, 70e9, 0.33),
    ("aluminum", 2700.0, 70e9, 0.33),
    ("titanium", 4430.0, 114e9, 0.34),
    ("cast_iron", 7200.0, 110e9, 0.26),
];

fn common_material(name: &str) -> Option<Material> {
    MATERIALS
        .iter()
        .find(|(known, ..)| *known == name)
        .map(|(_, density, young, poisson)| Material {
            density: *density,
            young: *young,
            shear: young / (2.0 * (1.0 + poisson)),
        })
}

impl Context {
    /// Section constants of a beam.
    pub fn beam_section(
        &mut self,
        scope: &Scope,
        beam: &format::Beam,
        library: &Library,
    ) -> Option<mechanism::Section> {
        let shape = match &beam.section.value {
            SectionOrName::Name(name) => match library.sections.get(name) {
                Some(known) => *known,
                None => {
                    let known = library.sections.keys().cloned().collect();
                    self.unknown(scope, &beam.section.span, "section", name, known)
                }
            },
            SectionOrName::Table(table) => self.shape(scope, table, &beam.section.span),
        };
        let material = match &beam.material.value {
            format::MaterialOrName::Name(name) => match library.materials.get(name) {
                Some(known) => *known,
                None => common_material(name).or_else(|| {
                    let mut known: Vec<String> = library.materials.keys().cloned().collect();
                    known.extend(MATERIALS.iter().map(|(name, ..)| (*name).to_owned()));
                    self.unknown(scope, &beam.material.span, "material", name, known)
                }),
            },
            format::MaterialOrName::Table(table) => {
                self.material(scope, table, &beam.material.span)
            }
        };
        let section = combine(shape?, material?);
        self.check_section(scope, &section, &beam.section.span)?;
        Some(section)
    }

    /// Products of positive numbers can still vanish in double precision.
    fn check_section(
        &mut self,
        scope: &Scope,
        section: &mechanism::Section,
        span: &Range<usize>,
    ) -> Option<()> {
        let constants = [
            ("the axial stiffness", section.axial),
            ("the shear stiffness along y", section.shear_y),
            ("the shear stiffness along z", section.shear_z),
            ("the torsional stiffness", section.torsion),
            ("the bending stiffness about y", section.bending_y),
            ("the bending stiffness about z", section.bending_z),
            ("the mass per length", section.mass_per_length),
            ("the rotary inertia", section.rotary_inertia.min()),
        ];
        let bad = |(_, value): &(&str, f64)| !(*value > 0.0 && value.is_finite());
        let Some((what, value)) = constants.into_iter().find(bad) else {
            return Some(());
        };
        let what = what.to_owned();
        self.fault(scope, span, FaultKind::NotPositive { what, value });
        None
    }

    /// Reports a name that nothing has.
    pub fn unknown<T>(
        &mut self,
        scope: &Scope,
        span: &Range<usize>,
        what: &'static str,
        name: &str,
        known: Vec<String>,
    ) -> Option<T> {
        // Suggestions cost time, and no one reads more than so many faults.
        if self.faults.len() >= MAX_FAULTS {
            return None;
        }
        let kind = FaultKind::UnknownReference {
            what,
            name: name.chars().take(60).collect(),
            suggestion: closest(name, known.iter().map(String::as_str)),
            known,
        };
        self.fault(scope, span, kind);
        None
    }

    /// A material given by numbers.
    pub fn material(
        &mut self,
        scope: &Scope,
        table: &format::Material,
        span: &Range<usize>,
    ) -> Option<Material> {
        let density = self.positive(scope, &table.density, Dimension::DENSITY, "the density");
        let young = self.positive(scope, &table.young, Dimension::PRESSURE, "Young's modulus");
        let shear = match (&table.poisson, &table.shear) {
            (Some(poisson), None) => {
                let ratio = self.number(scope, poisson, Dimension::NONE)?;
                if ratio <= -1.0 || ratio > 0.5 {
                    let kind = FaultKind::OutOfRange {
                        what: "Poisson's ratio".to_owned(),
                        value: ratio,
                        allowed: "above -1 and at most 0.5",
                    };
                    self.fault(scope, &poisson.span, kind);
                    return None;
                }
                young.map(|young| young / (2.0 * (1.0 + ratio)))
            }
            (None, Some(shear)) => {
                self.positive(scope, shear, Dimension::PRESSURE, "the shear modulus")
            }
            (poisson, _) => {
                let found = if poisson.is_some() {
                    vec!["poisson", "shear"]
                } else {
                    vec![]
                };
                let kind = FaultKind::ExactlyOne {
                    what: "a material".to_owned(),
                    options: "`poisson`, `shear`",
                    found,
                };
                self.fault(scope, span, kind);
                None
            }
        };
        Some(Material {
            density: density?,
            young: young?,
            shear: shear?,
        })
    }

    /// A section given by shape or numbers.
    pub fn shape(
        &mut self,
        scope: &Scope,
        table: &format::Section,
        span: &Range<usize>,
    ) -> Option<Shape> {
        let given = [
            (table.rectangle.is_some(), "rectangle"),
            (table.circle.is_some(), "circle"),
            (table.tube.is_some(), "tube"),
            (table.rectangular_tube.is_some(), "box"),
            (table.i.is_some(), "i"),
            (table.area.is_some(), "area"),
        ];
        let found: Vec<&'static str> = given
            .into_iter()
            .filter_map(|(is_given, name)| is_given.then_some(name))
            .collect();
        if found.len() != 1 {
            let kind = FaultKind::ExactlyOne {
                what: "a section".to_owned(),
                options: "`rectangle`, `circle`, `tube`, `box`, `i`, or numbers (`area`, `inertia_y`, …)",
                found,
            };
            self.fault(scope, span, kind);
            return None;
        }
        let shape = if table.area.is_some() {
            self.shape_by_numbers(scope, table, span)?
        } else {
            self.shape_by_sizes(scope, table, span)?
        };
        self.overrides(scope, table, shape)
    }

    fn shape_by_numbers(
        &mut self,
        scope: &Scope,
        table: &format::Section,
        span: &Range<usize>,
    ) -> Option<Shape> {
        let mut required = |scalar: &Option<Scalar>, dimension, key: &str| match scalar {
            Some(scalar) => self.positive(scope, scalar, dimension, &format!("`{key}`")),
            None => {
                let kind = FaultKind::MissingKey {
                    key: key.to_owned(),
                    table: "the section".to_owned(),
                };
                self.fault(scope, span, kind);
                None
            }
        };
        let area = required(&table.area, Dimension::AREA, "area");
        let inertia_y = required(&table.inertia_y, Dimension::SECOND_MOMENT, "inertia_y");
        let inertia_z = required(&table.inertia_z, Dimension::SECOND_MOMENT, "inertia_z");
        let torsion = required(&table.torsion, Dimension::SECOND_MOMENT, "torsion");
        Some(Shape {
            area: area?,
            inertia_y: inertia_y?,
            inertia_z: inertia_z?,
            torsion: torsion?,
            polar: inertia_y? + inertia_z?,
            shear_y: 5.0 / 6.0,
            shear_z: 5.0 / 6.0,
        })
    }

    fn shape_by_sizes(
        &mut self,
        scope: &Scope,
        table: &format::Section,
        span: &Range<usize>,
    ) -> Option<Shape> {
        let mut size =
            |scalar: &Scalar, what| self.positive(scope, scalar, Dimension::LENGTH, what);
        let shape = if let Some(rectangle) = &table.rectangle {
            let height = size(&rectangle.height, "the height");
            let width = size(&rectangle.width, "the width");
            Some(rectangle_shape(height?, width?))
        } else if let Some(circle) = &table.circle {
            let diameter = size(&circle.diameter, "the diameter")?;
            Some(tube_shape(diameter, 0.0))
        } else if let Some(tube) = &table.tube {
            let diameter = size(&tube.diameter, "the diameter");
            let wall = size(&tube.wall, "the wall");
            let (outer, inner) = (diameter?, diameter? - 2.0 * wall?);
            (inner >= 0.0).then(|| tube_shape(outer, inner))
        } else if let Some(tube) = &table.rectangular_tube {
            let height = size(&tube.height, "the height");
            let width = size(&tube.width, "the width");
            let wall = size(&tube.wall, "the wall");
            let (height, width, wall) = (height?, width?, wall?);
            (2.0 * wall < height.min(width)).then(|| box_shape(height, width, wall))
        } else if let Some(profile) = &table.i {
            let height = size(&profile.height, "the height");
            let width = size(&profile.width, "the width");
            let web = size(&profile.web, "the web");
            let flange = size(&profile.flange, "the flange");
            let (height, width, web, flange) = (height?, width?, web?, flange?);
            (2.0 * flange < height && web <= width).then(|| i_shape(height, width, web, flange))
        } else {
            None
        };
        if shape.is_none() {
            self.fault(scope, span, FaultKind::ThickWalls);
        }
        shape
    }

    fn overrides(&mut self, scope: &Scope, table: &format::Section, shape: Shape) -> Option<Shape> {
        let mut value = |scalar: &Option<Scalar>, dimension, key: &str, default| match scalar {
            Some(scalar) => self.positive(scope, scalar, dimension, &format!("`{key}`")),
            None => Some(default),
        };
        let moment = Dimension::SECOND_MOMENT;
        let none = Dimension::NONE;
        let polar = value(&table.polar_inertia, moment, "polar_inertia", shape.polar);
        let torsion = value(&table.torsion, moment, "torsion", shape.torsion);
        let inertia_y = value(&table.inertia_y, moment, "inertia_y", shape.inertia_y);
        let inertia_z = value(&table.inertia_z, moment, "inertia_z", shape.inertia_z);
        let both_y = value(&table.shear_factor, none, "shear_factor", shape.shear_y)?;
        let both_z = value(&table.shear_factor, none, "shear_factor", shape.shear_z)?;
        let shear_y = value(&table.shear_factor_y, none, "shear_factor_y", both_y);
        let shear_z = value(&table.shear_factor_z, none, "shear_factor_z", both_z);
        Some(Shape {
            area: shape.area,
            inertia_y: inertia_y?,
            inertia_z: inertia_z?,
            torsion: torsion?,
            polar: polar?,
            shear_y: shear_y?,
            shear_z: shear_z?,
        })
    }
}

fn combine(shape: Shape, material: Material) -> mechanism::Section {
    let Material {
        density,
        young,
        shear,
    } = material;
    mechanism::Section {
        axial: young * shape.area,
        shear_y: shear * shape.area * shape.shear_y,
        shear_z: shear * shape.area * shape.shear_z,
        torsion: shear * shape.torsion,
        bending_y: young * shape.inertia_y,
        bending_z: young * shape.inertia_z,
        mass_per_length: density * shape.area,
        rotary_inertia: density * Vector3::new(shape.polar, shape.inertia_y, shape.inertia_z),
    }
}

fn rectangle_shape(height: f64, width: f64) -> Shape {
    let inertia_y = width * height.powi(3) / 12.0;
    let inertia_z = height * width.powi(3) / 12.0;
    Shape {
        area: height * width,
        inertia_y,
        inertia_z,
        torsion: rectangle_torsion(height.max(width), height.min(width)),
        polar: inertia_y + inertia_z,
        shear_y: 5.0 / 6.0,
        shear_z: 5.0 / 6.0,
    }
}

/// Saint-Venant's series for the torsion constant of a rectangle.
fn rectangle_torsion(long: f64, short: f64) -> f64 {
    let sum: f64 = (0..40)
        .map(|k| f64::from(2 * k + 1))
        .map(|n| (n * PI * long / (2.0 * short)).tanh() / n.powi(5))
        .sum();
    long * short.powi(3) * (1.0 / 3.0 - 64.0 / PI.powi(5) * short / long * sum)
}

/// Circle or tube; shear factors of Cowper (1966) for ν = 0, as 5/6 is for the rectangle.
fn tube_shape(outer: f64, inner: f64) -> Shape {
    let inertia = PI * (outer.powi(4) - inner.powi(4)) / 64.0;
    let squared = (inner / outer).powi(2);
    let sum = (1.0 + squared).powi(2);
    let factor = 6.0 * sum / (7.0 * sum + 20.0 * squared);
    Shape {
        area: PI * (outer.powi(2) - inner.powi(2)) / 4.0,
        inertia_y: inertia,
        inertia_z: inertia,
        torsion: 2.0 * inertia,
        polar: 2.0 * inertia,
        shear_y: factor,
        shear_z: factor,
    }
}

/// Rectangular tube: Bredt's torsion constant, shear carried by the walls along it.
fn box_shape(height: f64, width: f64, wall: f64) -> Shape {
    let (h, w) = (height - 2.0 * wall, width - 2.0 * wall);
    let area = height * width - h * w;
    let inertia_y = (width * height.powi(3) - w * h.powi(3)) / 12.0;
    let inertia_z = (height * width.powi(3) - h * w.powi(3)) / 12.0;
    let (middle_h, middle_w) = (height - wall, width - wall);
    Shape {
        area,
        inertia_y,
        inertia_z,
        torsion: 2.0 * wall * (middle_h * middle_w).powi(2) / (middle_h + middle_w),
        polar: inertia_y + inertia_z,
        shear_y: 2.0 * wall * middle_w / area,
        shear_z: 2.0 * wall * middle_h / area,
    }
}

/// I profile: thin-walled torsion constant, shear carried by web and flanges.
fn i_shape(height: f64, width: f64, web: f64, flange: f64) -> Shape {
    let between = height - 2.0 * flange;
    let area = 2.0 * width * flange + between * web;
    let inertia_y = (width * height.powi(3) - (width - web) * between.powi(3)) / 12.0;
    let inertia_z = (2.0 * flange * width.powi(3) + between * web.powi(3)) / 12.0;
    let torsion = (2.0 * width * flange.powi(3) + (height - flange) * web.powi(3)) / 3.0;
    Shape {
        area,
        inertia_y,
        inertia_z,
        torsion,
        polar: inertia_y + inertia_z,
        shear_y: 5.0 / 6.0 * 2.0 * flange * width / area,
        shear_z: web * (height - flange) / area,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torsion_of_rectangles() {
        // Timoshenko and Goodier, table of k1: 0.1406 (square), 0.196 (1.5), 0.333 (thin).
        assert!((rectangle_torsion(1.0, 1.0) - 0.140577).abs() < 1e-6);
        assert!((rectangle_torsion(1.5, 1.0) / 1.5 - 0.19577).abs() < 1e-5);
        assert!((rectangle_torsion(1e4, 1.0) / 1e4 - 1.0 / 3.0).abs() < 1e-4);
    }

    #[test]
    fn a_tube_without_hole_is_a_circle_and_a_thin_one_has_shear_factor_one_half() {
        let circle = tube_shape(2.0, 0.0);
        assert!((circle.inertia_y - PI / 4.0).abs() < 1e-15);
        assert!((circle.shear_y - 6.0 / 7.0).abs() < 1e-15);
        assert!((tube_shape(1.0, 0.9999).shear_z - 0.5).abs() < 1e-4);
    }

    #[test]
    fn hollow_shapes_are_differences_of_full_ones() {
        let hollow = box_shape(0.06, 0.04, 0.005);
        let (outer, inner) = (rectangle_shape(0.06, 0.04), rectangle_shape(0.05, 0.03));
        assert!((hollow.area - (outer.area - inner.area)).abs() < 1e-18);
        assert!((hollow.inertia_y - (outer.inertia_y - inner.inertia_y)).abs() < 1e-20);
        let full = i_shape(0.06, 0.04, 0.04, 0.01);
        assert!((full.inertia_y - outer.inertia_y).abs() < 1e-20);
        assert!((full.inertia_z - outer.inertia_z).abs() < 1e-20);
    }
}
