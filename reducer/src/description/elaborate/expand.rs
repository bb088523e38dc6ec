//! Expansion of templates: every part of the file with the scope in which it is understood.

use super::super::fault::FaultKind;
use super::super::files::Units;
use super::super::format::{self, Located, Parameter, Template, Use};
use super::super::parameters::{Parameters, Written};
use super::context::{Context, Scope};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

const MAX_PARTS: usize = 5_000;
const MAX_INSTANCES: usize = 2_000;
const MAX_DEPTH: usize = 16;

/// One part as written.
#[derive(Clone, Copy)]
pub enum Part<'a> {
    /// A body.
    Body(&'a Located<format::Body>),
    /// A joint.
    Joint(&'a Located<format::Joint>),
    /// A coordinate.
    Coordinate(&'a Located<format::Coordinate>),
    /// A spring.
    Spring(&'a Located<format::Spring>),
    /// A point mass.
    PointMass(&'a Located<format::PointMass>),
    /// A load.
    Load(&'a Located<format::Load>),
    /// An output.
    Output(&'a Located<format::Output>),
    /// A loaded displacement.
    Loaded(&'a Located<format::Loaded>),
    /// Instances of a template.
    Use(&'a Located<Use>),
}

impl Part<'_> {
    fn span(&self) -> Range<usize> {
        let span = match self {
            Part::Body(part) => &part.span,
            Part::Joint(part) => &part.span,
            Part::Coordinate(part) => &part.span,
            Part::Spring(part) => &part.span,
            Part::PointMass(part) => &part.span,
            Part::Load(part) => &part.span,
            Part::Output(part) => &part.span,
            Part::Loaded(part) => &part.span,
            Part::Use(part) => &part.span,
        };
        span.clone()
    }
}

/// A part and its scope.
pub struct Placed<'a> {
    /// Where its names and coordinates are understood.
    pub scope: Rc<Scope>,
    /// The part; never [`Part::Use`].
    pub part: Part<'a>,
}

/// The parts of a file or template in the order in which they are written.
macro_rules! parts_of {
    ($container:expr) => {{
        let container = $container;
        let mut parts: Vec<Part<'_>> = Vec::new();
        parts.extend(container.body.iter().map(Part::Body));
        parts.extend(container.joint.iter().map(Part::Joint));
        parts.extend(container.coordinate.iter().map(Part::Coordinate));
        parts.extend(container.spring.iter().map(Part::Spring));
        parts.extend(container.point_mass.iter().map(Part::PointMass));
        parts.extend(container.load.iter().map(Part::Load));
        parts.extend(container.output.iter().map(Part::Output));
        parts.extend(container.loaded.iter().map(Part::Loaded));
        parts.extend(container.instances.iter().map(Part::Use));
        parts.sort_by_key(|part| part.span().start);
        parts
    }};
}

/// All parts of a mechanism, templates expanded.
pub fn expand<'a>(context: &mut Context, input: &'a Units, file: &Scope) -> Vec<Placed<'a>> {
    let mut templates = BTreeMap::new();
    for unit in &input.units {
        let scope = Scope {
            source: unit.source,
            ..file.clone()
        };
        for (name, template) in &unit.file.template.0 {
            context.name(&scope, name);
            if templates
                .insert(name.value.as_str(), Known::new(unit.source, template))
                .is_some()
            {
                let kind = FaultKind::DuplicateName {
                    what: "template",
                    name: name.value.clone(),
                };
                context.fault(&scope, &name.span, kind);
            }
        }
    }
    let mut expansion = Expansion {
        context,
        templates,
        instances: 0,
        open: Vec::new(),
        full: false,
        output: Vec::new(),
    };
    for unit in &input.units {
        let scope = Rc::new(Scope {
            source: unit.source,
            ..file.clone()
        });
        for part in parts_of!(&unit.file) {
            if expansion.output.len() >= MAX_PARTS {
                expansion.overflow(&scope, &part.span(), "parts", MAX_PARTS);
                break;
            }
            expansion.add(&scope, part);
        }
    }
    expansion.output
}

/// A template with its parts in order.
struct Known<'a> {
    source: usize,
    template: &'a Template,
    parts: Rc<[Part<'a>]>,
}

impl<'a> Known<'a> {
    fn new(source: usize, template: &'a Template) -> Self {
        Self {
            source,
            template,
            parts: parts_of!(template).into(),
        }
    }
}

struct Expansion<'a, 'c> {
    context: &'c mut Context,
    templates: BTreeMap<&'a str, Known<'a>>,
    instances: usize,
    open: Vec<&'a str>,
    full: bool,
    output: Vec<Placed<'a>>,
}

impl<'a> Expansion<'a, '_> {
    fn add(&mut self, scope: &Rc<Scope>, part: Part<'a>) {
        match part {
            Part::Use(instances) => self.instances(scope, instances),
            part => self.output.push(Placed {
                scope: Rc::clone(scope),
                part,
            }),
        }
    }

    fn instances(&mut self, scope: &Rc<Scope>, instances: &'a Located<Use>) {
        let wanted = &instances.template;
        let found = self.templates.get_key_value(wanted.value.as_str());
        let found = found.map(|(name, known)| {
            let parts = Rc::clone(&known.parts);
            (*name, known.source, known.template, parts)
        });
        let Some((name, source, template, parts)) = found else {
            let known = self
                .templates
                .keys()
                .map(|name| (*name).to_owned())
                .collect();
            let _: Option<()> =
                self.context
                    .unknown(scope, &wanted.span, "template", &wanted.value, known);
            return;
        };
        if self.open.contains(&name) {
            let name = name.to_owned();
            let kind = FaultKind::TemplateCycle { name };
            return self.context.fault(scope, &wanted.span, kind);
        }
        if self.open.len() >= MAX_DEPTH {
            let kind = FaultKind::Limit {
                what: "levels of templates that use each other",
                limit: MAX_DEPTH,
            };
            self.context.fault(scope, &wanted.span, kind);
            return;
        }
        let span = &instances.span;
        let base = self
            .context
            .placement_or_at(scope, &instances.frame, &instances.at, span);
        let step = match &instances.rotate {
            Some(rotate) => self.context.rotation_step(scope, rotate).map(Some),
            None => Some(None),
        };
        let given = self.given(scope, &instances.parameters.0, template);
        let (Some(base), Some(step)) = (base, step) else {
            return;
        };
        self.open.push(name);
        for (index, instance) in instances.names.iter().enumerate() {
            if !self.context.name(scope, instance) {
                continue;
            }
            self.instances += 1;
            if self.instances > MAX_INSTANCES {
                self.overflow(
                    scope,
                    &instances.span,
                    "instances of templates",
                    MAX_INSTANCES,
                );
                break;
            }
            let turned = match &step {
                Some(step) => base.compose(&step(index)),
                None => base,
            };
            let written: Vec<Written<'_>> = template
                .parameters
                .0
                .iter()
                .map(|(name, parameter)| (source, name.value.as_str(), parameter))
                .collect();
            let outer = Some(Rc::clone(&scope.parameters));
            let parameters =
                Parameters::evaluate(&written, given.clone(), outer, &mut self.context.faults);
            let inner = Rc::new(Scope {
                prefix: format!("{}{}.", scope.prefix, instance.value),
                frame: scope.frame.compose(&turned),
                source,
                parameters: Rc::new(parameters),
            });
            for part in parts.iter() {
                if self.output.len() >= MAX_PARTS {
                    self.overflow(scope, &instances.span, "parts after expansion", MAX_PARTS);
                    break;
                }
                self.add(&inner, *part);
            }
        }
        self.open.pop();
    }

    fn overflow(&mut self, scope: &Scope, span: &Range<usize>, what: &'static str, limit: usize) {
        if !self.full {
            let kind = FaultKind::Limit { what, limit };
            self.context.fault(scope, span, kind);
        }
        self.full = true;
    }

    /// Parameters that the user of a template overrides, evaluated where they are written.
    fn given(
        &mut self,
        scope: &Scope,
        entries: &[(Located<String>, Located<Parameter>)],
        template: &Template,
    ) -> BTreeMap<String, Option<super::super::quantity::Quantity>> {
        let mut given = BTreeMap::new();
        for (name, parameter) in entries {
            let own = || template.parameters.0.iter().map(|(own, _)| &own.value);
            let outer = scope.parameters.find(&name.value).is_some();
            if !outer && !own().any(|own| *own == name.value) {
                let mut known: Vec<String> = own().cloned().collect();
                known.extend(scope.parameters.names().into_iter().map(str::to_owned));
                let _: Option<()> =
                    self.context
                        .unknown(scope, &name.span, "parameter", &name.value, known);
                continue;
            }
            let (number, span, runtime) = match &parameter.value {
                Parameter::Number(number) => (number.clone(), parameter.span.clone(), false),
                Parameter::Table(table) => (
                    table.value.value.clone(),
                    table.value.span.clone(),
                    table.runtime,
                ),
            };
            let scalar = Located {
                span,
                value: number,
            };
            let value = self.context.quantity(scope, &scalar).map(|mut quantity| {
                quantity.runtime |= runtime;
                quantity
            });
            given.insert(name.value.clone(), value);
        }
        given
    }
}
