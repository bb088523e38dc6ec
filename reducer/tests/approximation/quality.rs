//! Accuracy and size.

use crate::flexible::Flexible;
use crate::orthoglide::Orthoglide;
use crate::{reduced, settings};
use reducer::description::mechanism::{Basis, Criterion, Form};

#[test]
fn explore() {
    let t = |name: &str, f: &dyn Fn() -> reducer::pipeline::Summary| {
        let start = std::time::Instant::now();
        let s = f();
        println!(
            "{name}: {:?} boxes {} samples {} numbers {} / {} reached {} cert {} {:?}",
            start.elapsed(),
            s.boxes,
            s.samples,
            s.stored_numbers,
            s.stored_numbers_outputs,
            s.reached,
            s.certified,
            s.continuity
        );
        for e in &s.errors {
            println!("     {} {:.5} {:.5}", e.block, e.mean, e.max);
        }
    };
    let o = Orthoglide::default();
    t("default", &|| reduced(&o, &settings(&[0.05; 3])).1);
    if std::env::var("SHORT").is_ok() {
        return;
    }
    struct Clock(std::time::Instant);
    impl reducer::approximation::Observer for Clock {
        fn phase(&self, n: &str) {
            println!("{:?} phase {n}", self.0.elapsed());
        }
        fn progress(&self, p: &reducer::approximation::Progress) {
            println!("{:?} {p:?}", self.0.elapsed());
        }
    }
    {
        let mut s = settings(&[0.05; 3]);
        s.criterion = Criterion::Max;
        let _ = reducer::pipeline::reduce(
            &o,
            &s,
            &Clock(std::time::Instant::now()),
            &mut reducer::approximation::SampleDatabase::in_memory(),
        );
    }
    t("max", &|| {
        let mut s = settings(&[0.05; 3]);
        s.criterion = Criterion::Max;
        reduced(&o, &s).1
    });
    t("quadratic", &|| {
        let mut s = settings(&[0.05; 3]);
        s.form = Form::Direct;
        s.basis = Basis::Quadratic;
        reduced(&o, &s).1
    });
    t("lagrange", &|| {
        let mut s = settings(&[0.05; 3]);
        s.form = Form::Direct;
        s.basis = Basis::Lagrange { order: 2 };
        reduced(&o, &s).1
    });
    for g in [0.01, 0.02, 0.03, 1.0] {
        for (name, basis) in [
            ("quadratic", Basis::Quadratic),
            ("lagrange", Basis::Lagrange { order: 2 }),
        ] {
            t(&format!("{name} gyro {g}"), &|| {
                let mut s = settings(&[0.05; 3]);
                s.form = Form::Direct;
                s.basis = basis;
                s.block_tolerances = ["gyroscopic", "gravity", "force", "outputs"]
                    .map(|b| (b.to_owned(), g))
                    .to_vec();
                reduced(&o, &s).1
            });
        }
    }
    t("flex1", &|| {
        reduced(&Flexible::new(1, 3), &settings(&[0.03; 1])).1
    });
    t("flex2", &|| {
        reduced(&Flexible::new(2, 2), &settings(&[0.03; 2])).1
    });
}
