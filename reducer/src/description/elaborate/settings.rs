//! Domain, damping, reduction and approximation.

use super::super::fault::FaultKind;
use super::super::files::{Resolver, Unit, Units};
use super::super::format::{
    ApproximationTable, BasisName, ContinuityName, CriterionName, FormName, GaugeName,
    InternalModes as ModesWritten, LargestSetting, Located, ModeSelection, NumberOrList,
    ObjectiveName, PlaneName, Scalar, StiffeningSetting, StiffeningWord,
};
use super::super::mechanism::{
    ApproximationSettings, Basis, Body, Budgets, Continuity, Coordinate, Criterion, Damping, Form,
    Gauge, Inequality, InternalModes, Objective, Plane, ReductionSettings, Stiffening,
};
use super::super::quantity::Dimension;
use super::context::{Context, Scope};
use std::ops::Range;

pub(super) const TOLERANCE: f64 = 0.005;
/// How many times its tolerance the largest error that is found may be.
const LARGEST: f64 = 10.0;
const MINIMAL_PART_OF_RANGE: [f64; 4] = [1.0 / 1024.0, 1.0 / 64.0, 1.0 / 16.0, 1.0 / 8.0];
const MINIMAL_WIDTH_UNBOUNDED: f64 = 1e-2;
const MAX_MODES: usize = 1000;
const MAX_ORDER: i64 = 60;
const MAX_BUDGET: i64 = 1_000_000_000;

/// What the settings are read from.
pub struct Settings<'a> {
    /// All files.
    pub input: &'a Units,
    /// Scope of the file.
    pub file: &'a Scope,
    /// Coordinates of the mechanism.
    pub coordinates: &'a [Coordinate],
    /// Bodies of the mechanism.
    pub bodies: &'a [Body],
    /// Nothing is missing from the lists.
    pub complete: bool,
}

impl Settings<'_> {
    /// The last file that has a table: the including file wins over its includes.
    fn unit(&self, table: &str) -> Option<(&Unit, Scope, Range<usize>)> {
        let with_table = |unit: &&Unit| unit.tables.contains_key(table);
        let unit = self
            .input
            .units
            .iter()
            .rev()
            .find(with_table)
            .or_else(|| self.input.units.last())?;
        let scope = Scope {
            source: unit.source,
            ..self.file.clone()
        };
        let span = unit.tables.get(table).cloned().unwrap_or(0..0);
        Some((unit, scope, span))
    }

    /// One value per coordinate.
    pub(super) fn per_coordinate(
        &self,
        context: &mut Context,
        scope: &Scope,
        values: &[Scalar],
        span: &Range<usize>,
        what: &'static str,
    ) -> Option<Vec<f64>> {
        let numbers: Vec<_> = values
            .iter()
            .map(|value| context.quantity(scope, value).map(|found| found.value))
            .collect();
        let numbers: Vec<f64> = numbers.into_iter().collect::<Option<_>>()?;
        let expected = self.coordinates.len();
        if self.complete && numbers.len() != expected {
            let found = numbers.len();
            let kind = FaultKind::WrongCount {
                what,
                expected,
                found,
            };
            context.fault(scope, span, kind);
            return None;
        }
        Some(numbers)
    }

    /// Linear inequalities of the domain, from all files.
    pub fn inequalities(&self, context: &mut Context) -> Vec<Inequality> {
        let mut list = Vec::new();
        for unit in &self.input.units {
            let scope = Scope {
                source: unit.source,
                ..self.file.clone()
            };
            for written in &unit.file.domain.inequalities {
                let mut coefficients = vec![0.0; self.coordinates.len()];
                for (name, scalar) in &written.coefficients.0 {
                    let value = context.quantity(&scope, scalar).map(|found| found.value);
                    let mut names = self.coordinates.iter().map(|own| own.name.as_str());
                    match (names.position(|own| own == name.value), value) {
                        (Some(index), Some(value)) => coefficients[index] = value,
                        (None, _) if self.complete => {
                            let known = self.coordinates.iter().map(|own| own.name.clone());
                            let known = known.collect();
                            let _: Option<()> = context.unknown(
                                &scope,
                                &name.span,
                                "coordinate",
                                &name.value,
                                known,
                            );
                        }
                        _ => {}
                    }
                }
                let bounds = [(&written.at_most, 1.0), (&written.at_least, -1.0)];
                if written.at_most.is_none() && written.at_least.is_none() {
                    let kind = FaultKind::ExactlyOne {
                        what: "an inequality".to_owned(),
                        options: "`at_most`, `at_least`",
                        found: Vec::new(),
                    };
                    context.fault(&scope, &written.span, kind);
                }
                for (bound, sign) in bounds {
                    let Some(bound) = bound else { continue };
                    let Some(value) = context.quantity(&scope, bound) else {
                        continue;
                    };
                    list.push(Inequality {
                        origin: scope.origin(&written.span),
                        coefficients: coefficients.iter().map(|value| sign * value).collect(),
                        bound: sign * value.value,
                    });
                }
            }
        }
        list
    }

    /// Structural damping.
    pub fn damping(&self, context: &mut Context) -> Option<Damping> {
        let (unit, scope, span) = self.unit("damping")?;
        let Some(table) = &unit.file.damping else {
            return Some(Damping::None);
        };
        match (&table.ratio, &table.alpha, &table.beta) {
            (Some(ratio), None, None) => {
                let what = "the damping ratio";
                let value = context.not_negative(&scope, ratio, Dimension::NONE, what)?;
                if value < 1.0 {
                    return Some(Damping::Modal { ratio: value });
                }
                let kind = FaultKind::OutOfRange {
                    what: what.to_owned(),
                    value,
                    allowed: "below 1 (0.01 is one per cent)",
                };
                context.fault(&scope, &ratio.span, kind);
                None
            }
            (None, alpha, beta) if alpha.is_some() || beta.is_some() => {
                let alpha = context.not_negative_or(&scope, alpha, Dimension::RATE, "`alpha`", 0.0);
                let beta = context.not_negative_or(&scope, beta, Dimension::TIME, "`beta`", 0.0);
                Some(Damping::Rayleigh {
                    alpha: alpha?,
                    beta: beta?,
                })
            }
            (ratio, ..) => {
                let found = if ratio.is_some() {
                    vec!["ratio", "alpha and beta"]
                } else {
                    Vec::new()
                };
                let kind = FaultKind::ExactlyOne {
                    what: "damping".to_owned(),
                    options: "`ratio`, `alpha` and `beta`",
                    found,
                };
                context.fault(&scope, &span, kind);
                None
            }
        }
    }

    /// Choice of local modes.
    pub fn reduction(&self, context: &mut Context) -> Option<ReductionSettings> {
        let (unit, scope, span) = self.unit("reduction")?;
        let table = &unit.file.reduction;
        let internal = match &table.internal_modes {
            Some(written) => internal_modes(context, &scope, written).map(Some),
            None => Some(self.default_modes()),
        };
        let gauge = match (table.gauge, &table.power) {
            (GaugeName::Filtered, None) => Some(Gauge::Filtered { power: 2 }),
            (GaugeName::Filtered, Some(power)) => {
                let power = whole(context, &scope, power, 20, "`power`");
                power.map(|power| Gauge::Filtered { power })
            }
            (_, Some(power)) => {
                let kind = FaultKind::Meaningless {
                    key: "power",
                    context: "with this gauge",
                };
                context.fault(&scope, &power.span, kind);
                None
            }
            (GaugeName::Subspace, None) => Some(Gauge::Subspace),
            (GaugeName::Track, None) => Some(Gauge::Track),
        };
        let reference = match &table.reference {
            Some(values) => {
                let what = "the reference configuration";
                self.per_coordinate(context, &scope, &values.value, &values.span, what)
                    .map(Some)
            }
            None => Some(None),
        };
        Some(ReductionSettings {
            origin: scope.origin(&span),
            internal: internal?,
            gauge: gauge?,
            reference: reference?,
            stiffening: match table.stiffening {
                None | Some(StiffeningSetting::Word(StiffeningWord::Auto)) => Stiffening::Auto,
                Some(StiffeningSetting::Switch(false)) => Stiffening::None,
                Some(StiffeningSetting::Switch(true)) => Stiffening::All,
                Some(StiffeningSetting::Word(StiffeningWord::Loads)) => Stiffening::Loads,
            },
        })
    }

    /// One per compliant actuator where nothing else deforms; with beams the frequencies decide.
    fn default_modes(&self) -> Option<InternalModes> {
        let flexible = |body: &Body| body.kind.flexible_nodes().is_some();
        if self.bodies.iter().any(flexible) {
            return None;
        }
        let compliant = |own: &&Coordinate| own.stiffness.is_some();
        let count = self.coordinates.iter().filter(compliant).count();
        Some(InternalModes::Lowest(count))
    }

    /// Approximation over the configuration space.
    pub fn approximation(
        &self,
        context: &mut Context,
        resolver: &Resolver<'_>,
    ) -> Option<ApproximationSettings> {
        let (unit, scope, span) = self.unit("approximation")?;
        let table = &unit.file.approximation;
        let basis = basis(context, &scope, table);
        let tolerance = match &table.tolerance {
            Some(tolerance) => self.tolerance(context, &scope, tolerance),
            None => Some(TOLERANCE),
        };
        let blocks = [
            ("mass", &table.tolerances.mass),
            ("gyroscopic", &table.tolerances.gyroscopic),
            ("gravity", &table.tolerances.gravity),
            ("stiffness", &table.tolerances.stiffness),
            ("damping", &table.tolerances.damping),
            ("force", &table.tolerances.force),
            ("outputs", &table.tolerances.outputs),
        ];
        let mut block_tolerances = Vec::new();
        for (block, scalar) in blocks {
            if let Some(scalar) = scalar {
                let value = self.tolerance(context, &scope, scalar);
                block_tolerances.extend(value.map(|value| (block.to_owned(), value)));
            }
        }
        let minimal_width = self.minimal_width(context, &scope, &table.minimal_width);
        let trajectory = self.trajectory(context, &scope, unit, table, resolver);
        let budgets = budgets(context, &scope, table);
        let largest = largest(context, &scope, &table.largest);
        Some(ApproximationSettings {
            origin: scope.origin(&span),
            form: table.form.map(|form| match form {
                FormName::Direct => Form::Direct,
                FormName::Lagrangian => Form::Lagrangian,
            }),
            basis: basis?,
            tolerance: tolerance?,
            block_tolerances,
            criterion: match table.criterion {
                CriterionName::Mean => Criterion::Mean,
                CriterionName::Max => Criterion::Max,
            },
            largest: largest?,
            objective: match table.objective {
                ObjectiveName::Size => Objective::Size,
                ObjectiveName::Speed => Objective::Speed,
            },
            minimal_width: minimal_width?,
            continuity: table.continuity.map(|continuity| match continuity {
                ContinuityName::None => Continuity::None,
                ContinuityName::C0 => Continuity::C0,
                ContinuityName::C1 => Continuity::C1,
            }),
            trajectory: trajectory?,
            budgets: budgets?,
        })
    }

    pub(super) fn tolerance(
        &self,
        context: &mut Context,
        scope: &Scope,
        scalar: &Scalar,
    ) -> Option<f64> {
        let value = context.positive(scope, scalar, Dimension::NONE, "the tolerance")?;
        if value < 1.0 {
            return Some(value);
        }
        let kind = FaultKind::OutOfRange {
            what: "the tolerance".to_owned(),
            value,
            allowed: "below 1 (0.005 is half a per cent)",
        };
        context.fault(scope, &scalar.span, kind);
        None
    }

    fn minimal_width(
        &self,
        context: &mut Context,
        scope: &Scope,
        written: &Option<Located<NumberOrList>>,
    ) -> Option<Vec<f64>> {
        let Some(written) = written else {
            // Regions that cannot be reduced are cut down to this width in every coordinate.
            let part = MINIMAL_PART_OF_RANGE[self.coordinates.len().clamp(1, 4) - 1];
            let width = |own: &Coordinate| match own.upper - own.lower {
                range if range.is_finite() => range * part,
                _ => MINIMAL_WIDTH_UNBOUNDED,
            };
            return Some(self.coordinates.iter().map(width).collect());
        };
        let widths = match &written.value {
            NumberOrList::Number(number) => {
                let scalar = Located {
                    span: written.span.clone(),
                    value: number.clone(),
                };
                let value = context.quantity(scope, &scalar)?.value;
                vec![value; self.coordinates.len()]
            }
            NumberOrList::List(values) => {
                let what = "`minimal_width`";
                self.per_coordinate(context, scope, values, &written.span, what)?
            }
        };
        if let Some(value) = widths.iter().copied().find(|width| *width <= 0.0) {
            let what = "`minimal_width`".to_owned();
            let kind = FaultKind::NotPositive { what, value };
            context.fault(scope, &written.span, kind);
            return None;
        }
        Some(widths)
    }
}

fn basis(context: &mut Context, scope: &Scope, table: &ApproximationTable) -> Option<Basis> {
    let misplaced = match table.basis {
        BasisName::Lagrange => table.max_degree.as_ref().map(|value| (value, "max_degree")),
        BasisName::Chebyshev => table.order.as_ref().map(|value| (value, "order")),
        BasisName::Quadratic => table
            .order
            .as_ref()
            .map(|value| (value, "order"))
            .or(table.max_degree.as_ref().map(|value| (value, "max_degree"))),
    };
    if let Some((value, key)) = misplaced {
        let kind = FaultKind::Meaningless {
            key,
            context: "with this basis",
        };
        context.fault(scope, &value.span, kind);
        return None;
    }
    match table.basis {
        BasisName::Quadratic => Some(Basis::Quadratic),
        BasisName::Lagrange => {
            let order = match &table.order {
                Some(order) => whole(context, scope, order, MAX_ORDER, "`order`")?,
                None => 2,
            };
            Some(Basis::Lagrange { order })
        }
        BasisName::Chebyshev => {
            let max_degree = match &table.max_degree {
                Some(degree) => Some(whole(context, scope, degree, MAX_ORDER, "`max_degree`")?),
                None => None,
            };
            Some(Basis::Chebyshev { max_degree })
        }
    }
}

/// How many times its tolerance the largest error may be; the inner option is absent for any.
fn largest(
    context: &mut Context,
    scope: &Scope,
    written: &Option<Located<LargestSetting>>,
) -> Option<Option<f64>> {
    let Some(written) = written else {
        return Some(Some(LARGEST));
    };
    let value = match &written.value {
        LargestSetting::Switch(false) => return Some(None),
        LargestSetting::Switch(true) => return Some(Some(LARGEST)),
        LargestSetting::Number(number) => {
            let scalar = Located {
                span: written.span.clone(),
                value: number.clone(),
            };
            context.positive(scope, &scalar, Dimension::NONE, "`largest`")?
        }
    };
    if value >= 1.0 {
        return Some(Some(value));
    }
    let kind = FaultKind::OutOfRange {
        what: "`largest`".to_owned(),
        value,
        allowed: "at least 1: no error is larger than the largest",
    };
    context.fault(scope, &written.span, kind);
    None
}

fn budgets(context: &mut Context, scope: &Scope, table: &ApproximationTable) -> Option<Budgets> {
    let mut budget = |written: &Option<Located<i64>>, usual: usize, what: &str| match written {
        Some(written) => whole(context, scope, written, MAX_BUDGET, what),
        None => Some(usual),
    };
    let usual = Budgets::default();
    let numbers = budget(&table.max_numbers, usual.numbers, "`max_numbers`");
    let boxes = budget(&table.max_boxes, usual.boxes, "`max_boxes`");
    let samples = budget(&table.max_samples, usual.samples, "`max_samples`");
    Some(Budgets {
        numbers: numbers?,
        boxes: boxes?,
        samples: samples?,
    })
}

fn whole(
    context: &mut Context,
    scope: &Scope,
    written: &Located<i64>,
    most: i64,
    what: &str,
) -> Option<usize> {
    if (1..=most).contains(&written.value) {
        return usize::try_from(written.value).ok();
    }
    let kind = FaultKind::OutOfRange {
        what: what.to_owned(),
        value: written.value as f64,
        allowed: "at least 1 and not huge",
    };
    context.fault(scope, &written.span, kind);
    None
}

fn internal_modes(
    context: &mut Context,
    scope: &Scope,
    written: &Located<ModesWritten>,
) -> Option<InternalModes> {
    let modes = match &written.value {
        ModesWritten::Count(count) => Some(InternalModes::Lowest(*count)),
        ModesWritten::Table(table) => selection(context, scope, table, &written.span),
    }?;
    let largest = match &modes {
        InternalModes::Lowest(count)
        | InternalModes::InPlane(_, count)
        | InternalModes::OutOfPlane(_, count) => *count,
        InternalModes::Select(list) => list.iter().copied().max().unwrap_or(0),
    };
    if largest <= MAX_MODES {
        return Some(modes);
    }
    let kind = FaultKind::Limit {
        what: "internal modes",
        limit: MAX_MODES,
    };
    context.fault(scope, &written.span, kind);
    None
}

fn selection(
    context: &mut Context,
    scope: &Scope,
    table: &ModeSelection,
    span: &Range<usize>,
) -> Option<InternalModes> {
    match (
        &table.select,
        table.in_plane,
        table.out_of_plane,
        &table.count,
    ) {
        (Some(select), None, None, None) => {
            let mut modes: Vec<usize> = select.value.iter().map(|mode| mode.value).collect();
            modes.sort_unstable();
            if let Some(twice) = modes.windows(2).find(|pair| pair.first() == pair.last()) {
                let name = twice.first().map(usize::to_string).unwrap_or_default();
                let what = "selected mode";
                context.fault(scope, &select.span, FaultKind::DuplicateName { what, name });
                return None;
            }
            Some(InternalModes::Select(modes))
        }
        (None, Some(plane), None, Some(count)) => {
            Some(InternalModes::InPlane(plane.into(), count.value))
        }
        (None, None, Some(plane), Some(count)) => {
            Some(InternalModes::OutOfPlane(plane.into(), count.value))
        }
        _ => {
            let kind = FaultKind::ExactlyOne {
                what: "`internal_modes`".to_owned(),
                options: "a number, `select`, `in_plane` with `count`, `out_of_plane` with `count`",
                found: Vec::new(),
            };
            context.fault(scope, span, kind);
            None
        }
    }
}

impl From<PlaneName> for Plane {
    fn from(name: PlaneName) -> Self {
        match name {
            PlaneName::Xy => Self::Xy,
            PlaneName::Xz => Self::Xz,
            PlaneName::Yz => Self::Yz,
        }
    }
}
