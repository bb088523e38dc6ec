//! Figures of `reduce plot`.

use crate::{data, reduce, reduced};
use std::path::Path;

/// Draws a figure; the SVG, or what the program said where it could not.
fn plot(
    model: &Path,
    mechanism: Option<&Path>,
    what: &str,
    more: &[&str],
) -> Result<String, String> {
    let file = model.with_file_name("figures").join(format!("{what}.svg"));
    let output = reduce()
        .arg("plot")
        .arg(model)
        .args(mechanism)
        .args(["--what", what, "-o"])
        .arg(&file)
        .args(more)
        .output()
        .expect("the binary runs");
    match output.status.code() {
        Some(0) => Ok(std::fs::read_to_string(&file).expect("an SVG")),
        _ => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

#[test]
fn every_figure_has_axes_with_units_and_curves() {
    let folder = reduced("four_bar");
    let model = folder.path().join("model.json");
    let mechanism = data("four_bar.toml");
    let curves = |svg: &str| svg.matches("class=\"line\"").count();
    let circles = |svg: &str| svg.matches("<circle cx").count();
    for full in [None, Some(mechanism.as_path())] {
        let frequencies = plot(&model, full, "frequencies", &[]).expect("five internal modes");
        assert!(frequencies.contains("theta [rad]") && frequencies.contains("frequency [Hz]"));
        // Five curves, 57 points of the full model on each, and three peaks; one curve and one point in the legend.
        assert_eq!(curves(&frequencies), 6);
        assert_eq!(
            circles(&frequencies),
            if full.is_some() { 5 * 60 + 1 } else { 0 }
        );

        let errors = plot(&model, full, "errors", &[]).expect("errors");
        for block in [
            "mass",
            "gyroscopic",
            "gravity",
            "stiffness",
            "force",
            "outputs",
        ] {
            assert!(errors.contains(&format!(">{block}</text>")), "{block}");
        }
        assert!(errors.contains("tolerance (mean)"));

        let coefficients = plot(&model, full, "coefficients", &[]).expect("coefficients");
        assert!(coefficients.contains("M[theta, theta]") && coefficients.contains("kg m²"));

        let boxes = plot(&model, full, "boxes", &[]).expect("boxes");
        assert!(boxes.matches("class=\"tile\"").count() > 1);
        for svg in [&frequencies, &errors, &coefficients, &boxes] {
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }
}

#[test]
fn lines_are_chosen_by_name_and_what_is_not_there_is_said() {
    let folder = reduced("orthoglide");
    let model = folder.path().join("model.h5");
    let mechanism = data("orthoglide.toml");
    let panels = |svg: &str| svg.matches("class=\"axis\"").count();
    let all = plot(&model, Some(&mechanism), "errors", &[]).expect("errors");
    assert_eq!(panels(&all), 4);
    let one = plot(&model, Some(&mechanism), "errors", &["--along", "y.slide"]).expect("a line");
    assert_eq!(panels(&one), 1);
    assert!(one.contains("y.slide [m]"));
    let lost = plot(&model, None, "errors", &["--along", "w"]).expect_err("no such coordinate");
    assert!(lost.contains("`w`"), "{lost}");
    let rigid = plot(&model, None, "frequencies", &[]).expect_err("no internal modes");
    assert!(rigid.contains("no internal modes"), "{rigid}");
}
