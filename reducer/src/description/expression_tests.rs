use super::*;
use crate::description::quantity::Dimension;

fn value(text: &str) -> f64 {
    quantity(text).unwrap().value
}

fn quantity(text: &str) -> Result<Quantity, ExpressionError> {
    evaluate(text, &mut |name| match name {
        "L" => Some(Ok(Quantity::plain(0.45))),
        "m" => Some(Ok(Quantity::plain(7.0))),
        "width" => Some(Ok(Quantity::with_unit(0.02, Dimension::LENGTH))),
        _ => None,
    })
}

fn dimension(text: &str) -> Dimension {
    match quantity(text).unwrap().dimension {
        Known::Unit(dimension) => dimension,
        other => panic!("{text} has {other:?}"),
    }
}

#[test]
fn arithmetic_follows_the_usual_precedence() {
    assert_eq!(value("1 + 2*3 - 8/4"), 5.0);
    assert_eq!(value("-2^2"), -4.0);
    assert_eq!(value("2^3^2"), 512.0);
    assert_eq!(value("2^-1"), 0.5);
    assert_eq!(value("-(L + 0.05)/2"), -0.25);
    assert_eq!(value("2e3"), 2000.0);
    assert_eq!(value("1.5e-3*2"), 0.003);
}

#[test]
fn functions_and_constants() {
    assert_eq!(value("sqrt(16) + abs(-1) + min(3, 1, 2) + max(4, 5)"), 11.0);
    assert_eq!(value("atan2(1, 1)*4"), std::f64::consts::PI);
    assert_eq!(value("cos(pi)"), -1.0);
    assert_eq!(value("log(exp(1))"), 1.0);
    assert!((value("sin(30 deg)") - 0.5).abs() < 1e-16);
}

#[test]
fn units_convert_to_si_and_keep_their_dimension() {
    assert_eq!(value("3.5e6 N/m"), 3.5e6);
    assert_eq!(dimension("3.5e6 N/m"), Dimension::STIFFNESS);
    assert_eq!(value("2.7 g/cm^3"), 2.7e-3 / 1e-2_f64.powi(3));
    assert_eq!(dimension("2700 kg/m^3"), Dimension::DENSITY);
    assert_eq!(value("210 GPa"), 210e9);
    assert_eq!(dimension("5 N m"), Dimension::MOMENT);
    assert_eq!(dimension("5 N m/rad"), Dimension::ROTARY_STIFFNESS);
    assert_eq!(value("10mm"), 0.01);
    assert_eq!(dimension("(1 + 1) mm"), Dimension::LENGTH);
    assert_eq!(dimension("sqrt(4 m^2)"), Dimension::LENGTH);
    assert_eq!(dimension("width^2 / 3"), Dimension::AREA);
    assert_eq!(value("60 rpm"), 2.0 * std::f64::consts::PI);
}

#[test]
fn a_parameter_may_share_its_name_with_a_unit() {
    assert_eq!(value("3 N/m"), 3.0);
    assert_eq!(value("m/2"), 3.5);
    assert_eq!(value("14 N / m"), 2.0);
    assert_eq!(value("1 min"), 60.0);
    assert_eq!(value("min(2, 1)"), 1.0);
}

#[test]
fn plain_numbers_take_any_dimension() {
    assert_eq!(dimension("L/2 + 10 mm"), Dimension::LENGTH);
    assert_eq!(quantity("L * 3 N").unwrap().dimension, Known::Unknown);
    assert_eq!(dimension("2 * 3 N"), Dimension::FORCE);
}

#[test]
fn dimensions_that_do_not_fit_are_refused() {
    assert!(matches!(
        quantity("1 kg + 1 m"),
        Err(ExpressionError::Mixed { .. })
    ));
    assert!(matches!(
        quantity("sin(1 m)"),
        Err(ExpressionError::Argument { .. })
    ));
    assert!(matches!(
        quantity("sqrt(1 m)"),
        Err(ExpressionError::Argument { .. })
    ));
    assert!(matches!(
        quantity("2^(1 s)"),
        Err(ExpressionError::Argument { .. })
    ));
}

#[test]
fn mistakes_are_named() {
    assert_eq!(
        quantity("2 * M"),
        Err(ExpressionError::UnknownName("M".into()))
    );
    assert_eq!(
        quantity("sine(2)"),
        Err(ExpressionError::UnknownFunction("sine".into()))
    );
    assert!(matches!(
        quantity("(1 + 2"),
        Err(ExpressionError::Unexpected { .. })
    ));
    assert!(matches!(
        quantity(""),
        Err(ExpressionError::Unexpected { .. })
    ));
    assert!(matches!(
        quantity("1 2"),
        Err(ExpressionError::Unexpected { .. })
    ));
    assert_eq!(
        quantity("1/0"),
        Err(ExpressionError::NotFinite(f64::INFINITY))
    );
    assert_eq!(
        quantity("1.2.3"),
        Err(ExpressionError::Unexpected {
            found: "`0.3`".into(),
            expected: "an operator"
        })
    );
}

#[test]
fn hostile_expressions_are_bounded() {
    let deep = "(".repeat(900);
    assert_eq!(quantity(&deep), Err(ExpressionError::TooDeep));
    assert_eq!(quantity(&"-".repeat(900)), Err(ExpressionError::TooDeep));
    assert_eq!(quantity(&"1+".repeat(900)), Err(ExpressionError::TooLong));
    assert_eq!(
        quantity("1 m^40*1 m^40*1 m^40*1 m^40"),
        Err(ExpressionError::HugePower)
    );
}
