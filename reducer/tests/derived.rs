//! Derived quantities: matrix expressions that are sampled, fitted and evaluated like any block.

use nalgebra::{DMatrix, DVector};
use reducer::approximation::{LocalModel, SampleDatabase, SampleFailure, Silent, check};
use reducer::description::mechanism::Mechanism;
use reducer::description::{Faults, parse};
use reducer::error::Explain;
use reducer::pipeline;
use reducer::reduced_model::{
    Block, Evaluator, ModelCoefficients, Quantity, ReducedModel, Status, Workspace,
};
use reducer::sampling::{self, SampleSource};

const RALF: &str = include_str!("../../data/ralf.toml");

/// The gains of the inertial damping of [T 6.28], with ξ = 0.1: where the gauge mixes the modes of one cluster,
/// 2ξ√K stands for diag(2ξω).
const GAINS: &str = r#"
[[derived]]
name = "Gf"
value = "2 * xi * inv(M.dt) * sqrt(K.dd) * [-inv(J(tip, body, vx, vz).d) * J(tip, body, vx, vz).t, inv(J(tip, body, vx, vz).d)]"
tolerance = 0.004

[[derived]]
name = "inertia"
value = "M.tt"
"#;

fn ralf(more: &str) -> Result<Mechanism, Faults> {
    let text = RALF.replace("[parameters]", "[parameters]\nxi = 0.1");
    let text = format!("{text}\n{more}");
    parse(&text, "ralf.toml", &|_| unreachable!("nothing is included"))
}

fn mechanism(more: &str) -> Mechanism {
    ralf(more).expect("a mechanism")
}

fn reduced(mechanism: &Mechanism) -> (SampleSource, ReducedModel, pipeline::Summary) {
    let source = SampleSource::new(mechanism).expect("a manipulator");
    let mut database = SampleDatabase::in_memory();
    let (model, summary) =
        pipeline::reduce(&source, &mechanism.approximation, &Silent, &mut database)
            .expect("a model");
    (source, model, summary)
}

/// Points of the domain without a pattern.
fn points(model: &ReducedModel, count: usize) -> Vec<Vec<f64>> {
    let domain = &model.layout.domain;
    let part = |i: usize, k: usize| (0.5 + i as f64 * [0.754_877_666, 0.569_840_29][k]).fract();
    let place = |i, k: usize| domain.lower[k] + part(i, k) * (domain.upper[k] - domain.lower[k]);
    (0..count)
        .map(|i| (0..2).map(|k| place(i, k)).collect())
        .collect()
}

/// Mass, root of the stiffness on δ, and Jacobian of the tip in its own axes x and z.
fn parts(c: &ModelCoefficients) -> (DMatrix<f64>, DMatrix<f64>, DMatrix<f64>) {
    let n = 4;
    let block = |all: &[f64], i, j| {
        DMatrix::from_row_slice(n, n, all)
            .view((i, j), (2, 2))
            .into_owned()
    };
    let eigen = block(&c.stiffness, 2, 2).symmetric_eigen();
    let v = &eigen.eigenvectors;
    let root = v * DMatrix::from_diagonal(&eigen.eigenvalues.map(f64::sqrt)) * v.transpose();
    let tip = &c.outputs[0];
    let turned = tip.rotation.transpose() * DMatrix::from_row_slice(6, n, &tip.jacobian).rows(0, 3);
    let jacobian = DMatrix::from_fn(2, n, |i, j| turned[(2 * i, j)]);
    (block(&c.mass, 2, 0), root, jacobian)
}

fn gains(c: &ModelCoefficients) -> DMatrix<f64> {
    let (coupling, root, jacobian) = parts(c);
    let inverse = jacobian
        .columns(2, 2)
        .into_owned()
        .try_inverse()
        .expect("regular");
    let mut observer = DMatrix::zeros(2, 4);
    observer
        .columns_mut(0, 2)
        .copy_from(&(-&inverse * jacobian.columns(0, 2)));
    observer.columns_mut(2, 2).copy_from(&inverse);
    0.2 * coupling.try_inverse().expect("regular") * root * observer
}

/// The thesis's Ĝ^f and the mass again, from one model: what is fitted is what the model's own blocks give and what
/// the full model gives, and the law of [T 6.14] damps the modes as it should.
#[test]
fn scheduled_gains_are_those_of_the_blocks() {
    let (source, model, summary) = reduced(&mechanism(GAINS));
    assert!(summary.reached, "{:?}", summary.errors);
    let layout = &model.layout;
    let sizes: Vec<_> = layout.derived.iter().map(|d| (d.rows, d.columns)).collect();
    assert_eq!(sizes, [(2, 4), (2, 2)]);
    let [gf, inertia] = [0, 1].map(|i| layout.derived[i].tolerance);
    assert_eq!([gf, inertia], [0.004, 0.001]);

    // Measured as a block, and one by one; a check at other points agrees.
    let judged = |errors: &[reducer::reduced_model::BlockError]| {
        let found = errors.iter().find(|e| e.block == Block::Derived);
        found.expect("the block of derived quantities").mean
    };
    assert!(judged(&summary.errors) <= inertia);
    let of = |entry| {
        let quantity = Quantity::Derived { entry };
        let found = summary.largest.iter().find(|e| e.quantity == quantity);
        found.expect("an error of its own").mean
    };
    assert!(of(0) <= gf && of(0) > 0.0, "{}", of(0));
    assert!(of(1) <= inertia && of(1) > 0.0, "{}", of(1));
    let report = check(&model, &source, 40, 7).expect("a valid model");
    assert!(judged(&report.errors) <= 1.5 * inertia);

    let evaluator = Evaluator::new(&model).expect("a valid model");
    let mut work = Workspace::default();
    let (mut blocks, mut full, mut mass, mut law) = (0.0, 0.0, 0.0, 0.0);
    let points = points(&model, 60);
    for theta in &points {
        let c = evaluator
            .coefficients(theta, &mut work)
            .expect("two numbers");
        let (found, status) = evaluator.derived(theta, &mut work).expect("two numbers");
        assert_eq!((c.status, status), (Status::Inside, Status::Inside));
        assert_eq!(c.derived, found);
        let scheduled = DMatrix::from_row_slice(2, 4, &found[0]);
        let direct = gains(&c);
        blocks += (&scheduled - &direct).norm() / direct.norm();
        let exact = &source.evaluate(theta).expect("a sample").derived;
        let exact = DMatrix::from_row_slice(2, 4, &exact[0].values);
        full += (&scheduled - &exact).norm() / exact.norm();
        let stored = DMatrix::from_fn(2, 2, |i, j| c.mass[4 * i + j]);
        mass += (DMatrix::from_row_slice(2, 2, &found[1]) - &stored).norm() / stored.norm();
        // Measured signals of modal rates, and the force that the desired acceleration makes on the modes.
        let (coupling, root, jacobian) = parts(&c);
        let rates = DVector::from_vec(vec![0.02, -0.03, 0.4, 0.25]);
        let tip = &jacobian * &rates;
        let measured = DVector::from_vec(vec![rates[0], rates[1], tip[0], tip[1]]);
        let wanted = 0.2 * root * rates.rows(2, 2);
        law += (coupling * scheduled * measured - &wanted).norm() / wanted.norm();
    }
    let mean = |sum: f64| sum / points.len() as f64;
    assert!(mean(full) <= gf, "{}", mean(full));
    assert!(mean(blocks) <= gf, "{}", mean(blocks));
    assert!(mean(mass) <= inertia, "{}", mean(mass));
    assert!(mean(law) <= gf, "{}", mean(law));
}

#[test]
fn quantities_stay_those_of_the_mechanism_along_a_path() {
    let path = "trajectory = { points = [[-0.1, -0.1], [0.02, 0], [0.1, 0.05]] }";
    let along = SampleSource::new(&mechanism(&format!("{path}\n{GAINS}"))).expect("a path");
    let domain = SampleSource::new(&mechanism(GAINS)).expect("a manipulator");
    let at = |sigma: f64| along.evaluate(&[sigma]).expect("a sample").derived;
    let sigma = 0.4;
    let found = at(sigma);
    let exact = domain.evaluate(&along.theta(&[sigma])).expect("a sample");
    for (a, b) in found.iter().zip(&exact.derived) {
        assert_eq!((&a.values, a.columns), (&b.values, b.columns));
    }
    // Jacobians have no gradients, mass has.
    assert!(found[0].gradient.is_empty());
    let h = 1e-4;
    let (above, below) = (&at(sigma + h)[1].values, &at(sigma - h)[1].values);
    for (i, slope) in found[1].gradient[0].iter().enumerate() {
        let difference = (above[i] - below[i]) / (2.0 * h);
        assert!((slope - difference).abs() < 1e-5 * slope.abs().max(1.0));
    }
}

#[test]
fn a_model_without_them_does_not_speak_of_them() {
    let text = r#"format = 1
[[body]]
name = "link"
rigid = { mass = 2, center_of_mass = [0.3, 0, 0], inertia = [0.01, 0.02, 0.02] }
[[joint]]
name = "hinge"
hinge = ["ground", "link.origin"]
axis = [0, 1, 0]
[[coordinate]]
name = "theta"
drives = "hinge"
range = [-1, 1]
"#;
    let reduced = |text: &str| {
        let mechanism = parse(text, "link.toml", &|_| unreachable!()).expect("a mechanism");
        serde_json::to_string(&reduced(&mechanism).1).expect("a document")
    };
    assert!(!reduced(text).contains("derived"));
    let more = "[[derived]]\nname = \"mobility\"\nvalue = \"inv(M)\"\n";
    assert!(reduced(&format!("{text}{more}")).contains("mobility"));
}

/// What a fault says, where, and the help.
fn faults(more: &str) -> Vec<(String, String, String)> {
    let Err(found) = ralf(more) else {
        return Vec::new();
    };
    let told = |fault: &reducer::description::Fault| {
        let origin = fault.origin().expect("a place");
        let text = &found.sources[origin.source].text[origin.span.clone()];
        (
            text.to_owned(),
            fault.to_string(),
            fault.help().expect("help"),
        )
    };
    found.faults.iter().map(told).collect()
}

#[test]
fn mistakes_are_told_with_place_fact_and_cure() {
    let table =
        |name: &str, value: &str| format!("[[derived]]\nname = \"{name}\"\nvalue = \"{value}\"\n");
    let all = [
        table("a", "inv(M"),
        table("b", "J(top)"),
        table("b", "M"),
        table("c", "nothing * M"),
        format!("{}tolerance = 2\n", table("d", "M")),
    ];
    let found = faults(&all.concat());
    let said: Vec<(&str, &str)> = found.iter().map(|f| (f.0.as_str(), f.1.as_str())).collect();
    assert_eq!(
        said,
        [
            (
                "\"inv(M\"",
                "the expression has its end where `)` should be"
            ),
            ("\"J(top)\"", "there is no output `top`"),
            ("\"b\"", "another derived quantity has the name `b` already"),
            (
                "\"nothing * M\"",
                "there is no matrix or parameter `nothing`"
            ),
            (
                "2",
                "the tolerance must be below 1 (0.005 is half a per cent), not 2"
            ),
        ]
    );
    assert_eq!(found[1].2, "there are `tip`");
    // Sizes wait for the number of modes.
    let three = RALF.replace("internal_modes = 2 ", "internal_modes = 3 ");
    let text = format!("{three}\n{}", table("a", "inv(M.dt)"));
    let mechanism = parse(&text, "ralf.toml", &|_| unreachable!()).expect("a mechanism");
    let Err(error) = sampling::build(&mechanism) else {
        panic!("a matrix of 3 x 2 has no inverse");
    };
    assert_eq!(
        error.to_string(),
        "derived quantity `a`: `M.dt` is 3 x 2, and only square matrices have an inverse (`pinv` takes others)"
    );
    let span = error.origin().expect("a place").span.clone();
    assert_eq!(&text[span], "\"inv(M.dt)\"");
    assert!(error.help().expect("help").starts_with("choose blocks"));
}

/// The arm does not move across its plane, so that this matrix has no inverse anywhere.
#[test]
fn a_singular_inverse_fails_a_sample() {
    let value = "inv(J(tip, vx, vy).d)";
    let mechanism = mechanism(&format!("[[derived]]\nname = \"a\"\nvalue = \"{value}\"\n"));
    let source = SampleSource::new(&mechanism).expect("a manipulator");
    match source.evaluate(&[0.0, 0.0]) {
        Err(SampleFailure::Singular { theta, reason }) => {
            assert_eq!(theta, [0.0, 0.0]);
            let expected = "derived quantity `a`: `J(tip, vx, vy).d` has no inverse: its smallest";
            assert!(reason.starts_with(expected), "{reason}");
        }
        other => panic!("{:?}", other.map(|_| ())),
    }
}
