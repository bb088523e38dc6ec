//! `reduce validate`: checks a mechanism file and counts what it describes.

use super::Outcome;
use crate::args::ValidateArgs;
use crate::diagnostics::{self, CommandError, Failure};
use reducer::description::mechanism::{BodyKind, Coordinate, Drive, JointKind, Mechanism};
use reducer::reduction::{HomeShift, ModeChoice};
use reducer::sampling::{self, SamplingError};
use serde_json::{Value, json};

/// Runs the command.
pub fn run(args: &ValidateArgs) -> Result<Outcome, Failure> {
    let mechanism = super::read_mechanism(&args.mechanism)?;
    let theta = args.at.as_ref().map(|theta| theta.0.as_slice());
    let built = build(&mechanism, theta)?;
    let text = if args.json {
        format!("{:#}\n", as_json(&mechanism, &built))
    } else {
        as_text(&mechanism, &built)
    };
    diagnostics::print(&text)?;
    Ok(Outcome::Done)
}

/// What there is to say of a mechanism, at home and, where given, at θ.
pub fn document(mechanism: &Mechanism, theta: Option<&[f64]>) -> Result<Value, Failure> {
    Ok(as_json(mechanism, &build(mechanism, theta)?))
}

fn build(mechanism: &Mechanism, theta: Option<&[f64]>) -> Result<Built, Failure> {
    exporters::code::check_name(&mechanism.name)
        .map_err(|e| Failure::one(CommandError::from(e)))?;
    if let Some(theta) = theta {
        mechanism
            .check_configuration(theta)
            .map_err(|errors| Failure::new(errors, mechanism.sources.clone()))?;
    }
    Built::new(mechanism, theta).map_err(|error| Failure::one(error).with_sources(mechanism))
}

/// What only the assembled model knows.
struct Built {
    dofs: usize,
    redundant_loop_equations: usize,
    redundant_constraints: usize,
    reduced: usize,
    /// Mass (kg), centre of mass and size (m) at home.
    mass: f64,
    center_of_mass: Option<[f64; 3]>,
    size: [f64; 3],
    /// Lowest natural frequency at home with actuators locked; none where nothing deforms.
    lowest_hz: Option<f64>,
    /// What assembly moved most.
    shift: Option<HomeShift>,
    /// Box centres on the way to θ, where θ is given.
    waypoints: Option<usize>,
    /// Internal modes, where the file leaves them open.
    modes: Option<ModeChoice>,
}

impl Built {
    /// Assembles the mechanism at home and, where given, at θ.
    fn new(mechanism: &Mechanism, theta: Option<&[f64]>) -> Result<Self, SamplingError> {
        let reducer = sampling::build(mechanism)?;
        let waypoints = match theta {
            Some(theta) => Some(reducer.evaluate(theta)?.waypoints),
            None => None,
        };
        let frames = reducer.kinematics().home_frames();
        let model = reducer.model();
        let mass = model.total_mass();
        let center = (mass > 0.0).then(|| (model.first_moment(&frames) / mass).into());
        let home = reducer.kinematics().home().to_vec();
        Ok(Self {
            mass,
            center_of_mass: center,
            size: model.size(&frames).into(),
            lowest_hz: reducer.locked_frequencies_hz(&home, 1)?.first().copied(),
            shift: reducer.kinematics().home_shift().cloned(),
            dofs: reducer.model().n_dofs(),
            redundant_loop_equations: reducer.kinematics().n_redundant(),
            redundant_constraints: reducer.model().n_redundant(),
            reduced: reducer.n(),
            waypoints,
            modes: reducer.mode_choice().cloned(),
        })
    }
}

/// Motions of assembly below this are rounding, in metres.
const ROUNDING: f64 = 1e-12;

impl Built {
    /// Numbers at home in which a mistake of units shows.
    fn at_home(&self) -> Vec<(&'static str, String)> {
        let list = |v: &[f64; 3]| {
            // Rounding is not shown as a number, nor zero with a sign.
            let shown = v.map(|x| if x.abs() < ROUNDING { 0.0 } else { x });
            shown.map(number).join(" ")
        };
        let mut lines = vec![("mass", format!("{} kg", number(self.mass)))];
        let center = self.center_of_mass.iter();
        lines.extend(center.map(|v| ("centre", format!("{} m", list(v)))));
        lines.push(("size", format!("{} m", list(&self.size))));
        let lowest = self.lowest_hz.iter();
        lines.extend(lowest.map(|f| {
            (
                "lowest mode",
                format!("{} Hz, actuators locked", number(*f)),
            )
        }));
        lines.extend(self.modes.iter().map(|m| ("modes", m.to_string())));
        let shift = self.shift.iter().filter(|shift| shift.moved > ROUNDING);
        lines.extend(shift.map(|shift| {
            let HomeShift {
                moved, body, point, ..
            } = shift;
            (
                "assembly",
                format!("moves {body} at {point} by {moved:.1e} m"),
            )
        }));
        lines
    }
}

/// Speeds of sound √(E/ρ) from rubber to beryllium (m/s).
const SOUND: std::ops::Range<f64> = 30.0..15_000.0;
/// Lengths of a beam over its height between which beam theory and small strains say something.
const SLENDERNESS: std::ops::Range<f64> = 3.0..1000.0;
/// Lowest frequencies of machines, from cranes to small stiff ones (Hz).
const LOWEST: std::ops::Range<f64> = 0.05..20_000.0;

/// Turns of a hinge beyond which degrees were probably meant.
const MOST_TURNS: f64 = 10.0;

fn is_angle(mechanism: &Mechanism, coordinate: &Coordinate) -> bool {
    match coordinate.drive {
        Drive::Joint(id) => mechanism.joints[id.0].kind == JointKind::Hinge,
        Drive::Distance(..) => false,
    }
}

/// What is far from the usual, as after a mistake of units.
fn remarks(mechanism: &Mechanism, built: &Built) -> Vec<String> {
    let mut out = Vec::new();
    for body in &mechanism.bodies {
        let BodyKind::Beam(chain) = &body.kind else {
            continue;
        };
        let (name, section) = (&body.name, &chain.section);
        let sound = (section.axial / section.mass_per_length).sqrt();
        if !SOUND.contains(&sound) {
            out.push(format!(
                "sound runs through `{name}` at {} m/s, through metals at about 5000: check `young` [Pa] and `density` [kg/m³]",
                number(sound)
            ));
        }
        // The height of a rectangle with the same ratio of bending to axial stiffness.
        let bending = section.bending_y.max(section.bending_z);
        let height = (12.0 * bending / section.axial).sqrt();
        let ratio = chain.lengths.iter().sum::<f64>() / height;
        if !SLENDERNESS.contains(&ratio) {
            out.push(format!(
                "`{name}` is {} times as long as high: check its section and length [m]",
                number(ratio)
            ));
        }
    }
    for coordinate in &mechanism.coordinates {
        let turns = (coordinate.upper - coordinate.lower) / std::f64::consts::TAU;
        if turns.is_finite() && turns > MOST_TURNS && is_angle(mechanism, coordinate) {
            out.push(format!(
                "coordinate `{}` has a range of {} turns: numbers without a unit are rad, degrees are written \"90 deg\"",
                coordinate.name,
                number(turns)
            ));
        }
    }
    // Only the rotor is on the motor's side of a stiffness.
    let bare = |c: &&Coordinate| c.stiffness.is_some() && c.rotor_inertia == 0.0;
    for coordinate in mechanism.coordinates.iter().filter(bare) {
        out.push(format!(
            "coordinate `{}` has a stiffness and no inertia on the motor's side, so that its mass is zero: give `rotor_inertia`",
            coordinate.name
        ));
    }
    if let Some(hz) = built.lowest_hz.filter(|hz| !LOWEST.contains(hz)) {
        out.push(format!(
            "a lowest frequency of {} Hz is unusual: check masses, sections and materials",
            number(hz)
        ));
    }
    out
}

/// Four decimals, or powers of ten where these would show nothing or too much.
fn number(x: f64) -> String {
    if x == 0.0 || (1e-2..1e5).contains(&x.abs()) {
        format!("{x:.4}")
    } else {
        format!("{x:.3e}")
    }
}

fn elements(mechanism: &Mechanism) -> usize {
    let chains = mechanism.bodies.iter().map(|body| match &body.kind {
        BodyKind::Beam(chain) => chain.lengths.len(),
        BodyKind::Superelement(_) => 1,
        BodyKind::Rigid(_) | BodyKind::Point { .. } => 0,
    });
    chains.sum()
}

fn as_json(mechanism: &Mechanism, built: &Built) -> Value {
    let names: Vec<&str> = mechanism
        .coordinates
        .iter()
        .map(|own| own.name.as_str())
        .collect();
    let mut document = json!({
        "valid": true,
        "name": mechanism.name,
        "bodies": mechanism.bodies.len(),
        "elements": elements(mechanism),
        "joints": mechanism.joints.len(),
        "coordinates": names,
        "springs": mechanism.springs.len(),
        "point_masses": mechanism.point_masses.len(),
        "loads": mechanism.loads.len(),
        "outputs": mechanism.outputs.len(),
        "loaded": mechanism.loaded.len(),
        "full_dofs": built.dofs,
        "reduced_dofs": built.reduced,
        "redundant_loop_equations": built.redundant_loop_equations,
        "redundant_constraints": built.redundant_constraints,
        "mass": built.mass,
        "center_of_mass": built.center_of_mass,
        "size": built.size,
        "lowest_locked_hz": built.lowest_hz,
        "default_modes": built.modes.as_ref().map(super::tables::mode_choice),
        "moved_at_home": built.shift.as_ref().map(|shift| json!({
            "distance": shift.moved,
            "body": shift.body,
            "point": shift.point,
        })),
        "remarks": remarks(mechanism, built),
        "faults": [],
    });
    if let Some(waypoints) = built.waypoints {
        document["waypoints"] = waypoints.into();
    }
    document
}

fn as_text(mechanism: &Mechanism, built: &Built) -> String {
    let mut text = format!("{} is valid\n", mechanism.name);
    let counts = [
        ("bodies", mechanism.bodies.len()),
        ("elements", elements(mechanism)),
        ("joints", mechanism.joints.len()),
        ("coordinates", mechanism.coordinates.len()),
        ("springs", mechanism.springs.len()),
        ("point masses", mechanism.point_masses.len()),
        ("loads", mechanism.loads.len()),
        ("outputs", mechanism.outputs.len()),
        ("loaded", mechanism.loaded.len()),
        ("full dofs", built.dofs),
        ("reduced dofs", built.reduced),
        ("redundant", built.redundant_loop_equations),
    ];
    for (what, count) in counts {
        text.push_str(&format!("  {what:<13}{count}\n"));
    }
    for (what, value) in built.at_home() {
        text.push_str(&format!("  {what:<13}{value}\n"));
    }
    for remark in remarks(mechanism, built) {
        text.push_str(&format!("  remark       {remark}\n"));
    }
    if let Some(waypoints) = built.waypoints.filter(|count| *count > 0) {
        text.push_str(&format!(
            "the straight line from home is blocked; reached through {waypoints} box centre(s)\n"
        ));
    }
    text
}
