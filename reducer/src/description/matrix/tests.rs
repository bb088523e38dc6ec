use super::*;

fn names() -> [Vec<String>; 2] {
    [vec!["tip".into(), "left.tip".into()], vec!["push".into()]]
}

fn read(text: &str) -> Result<Matrix, MatrixError> {
    let [outputs, loaded] = names();
    let names = Names {
        outputs: &outputs,
        loaded: &loaded,
    };
    parse(text, names, &|name| match name {
        "xi" => Some(Ok(0.1)),
        "payload" => Some(Err(MatrixError::Runtime("payload".into()))),
        _ => None,
    })
}

/// Two θ and three δ.
fn size(text: &str) -> Result<(usize, usize), MatrixError> {
    let counts = Counts { rigid: 2, modal: 3 };
    read(text)?.checked_size(counts)
}

#[test]
fn sizes_follow_from_the_counts() {
    for (text, expected) in [
        ("M", (5, 5)),
        ("M.dt", (3, 2)),
        ("K.dd", (3, 3)),
        ("D.tt", (2, 2)),
        ("omega", (3, 1)),
        ("diag(omega)", (3, 3)),
        ("diag(omega')", (3, 3)),
        ("J(tip)", (6, 5)),
        ("J(left.tip, body, vx, vz).d", (2, 3)),
        ("J(tip, w).t", (3, 2)),
        ("R(tip)", (3, 3)),
        ("L(push)", (1, 5)),
        ("M.dt'", (2, 3)),
        ("pinv(M.dt)", (2, 3)),
        ("2 * xi * sqrt(K.dd) / pi", (3, 3)),
        ("-M.td * inv(M.dd) + M.td", (2, 3)),
        ("[M.tt, M.td; M.dt, M.dd]", (5, 5)),
        ("inv(M.tt) * [-M.tt, M.td]", (2, 5)),
        ("((((1 + 1)))) * M", (5, 5)),
    ] {
        assert_eq!(size(text), Ok(expected), "{text}");
    }
}

#[test]
fn operators_bind_as_usual() {
    let shown = |text| read(text).unwrap().to_string();
    assert_eq!(shown("M.tt - M.tt - M.tt"), "((M.tt - M.tt) - M.tt)");
    assert_eq!(shown("M.tt + K.tt * D.tt"), "(M.tt + (K.tt * D.tt))");
    assert_eq!(shown("-M.tt'"), "-transpose(M.tt)");
    assert_eq!(shown("M / 2 * K"), "((M / 2) * K)");
    assert_eq!(shown("2 * 3e-1 * M"), "(0.6 * M)");
    assert_eq!(
        shown("[J( tip,v ).d;L(push)]"),
        "[J(tip, vx, vy, vz).d; L(push)]"
    );
}

#[test]
fn every_mistake_is_told_with_its_facts() {
    for (text, expected) in [
        (
            "",
            "the expression has its end where a matrix or a number should be",
        ),
        (
            "M +",
            "the expression has its end where a matrix or a number should be",
        ),
        ("M N", "the expression has `N` where an operator should be"),
        ("inv(M", "the expression has its end where `)` should be"),
        (
            "[M, K",
            "the expression has its end where `,`, `;` or `]` should be",
        ),
        ("M.xx", "there is no block `xx`"),
        (
            "M.",
            "the expression has its end where a block, such as `dt` should be",
        ),
        ("J(tip).tt", "there is no block of columns `tt`"),
        ("J(top)", "there is no output `top`"),
        ("L(tip)", "there is no loaded displacement `tip`"),
        ("J(tip, up)", "there is no row `up`"),
        ("det(M)", "there is no function `det`"),
        ("Q", "there is no matrix or parameter `Q`"),
        (
            "payload * M",
            "parameter `payload` is free at run time, and a derived quantity is fitted once",
        ),
        ("1e999 * M", "`inf` is not a finite number"),
        ("M / 0", "`M / 0` is not a finite number"),
        ("M / (1 - 1)", "`M / 0` is not a finite number"),
        ("2 + 3", "`5` is a number, not a matrix"),
        ("[M, 1]", "`1` is a number, not a matrix"),
        ("diag(2)", "`2` is a number, not a matrix"),
        (
            "M + 1",
            "`M` is 5 x 5 and `1` is a number: they have no sum",
        ),
        (
            "M.dt * M.dt",
            "`M.dt` is 3 x 2 and `M.dt` is 3 x 2: they have no product",
        ),
        (
            "M / K",
            "`M` is 5 x 5 and `K` is 5 x 5: they have no quotient (`inv` gives an inverse)",
        ),
        (
            "M.tt - M.dd",
            "`M.tt` is 2 x 2 and `M.dd` is 3 x 3: they have no difference",
        ),
        (
            "inv(M.dt)",
            "`M.dt` is 3 x 2, and only square matrices have an inverse (`pinv` takes others)",
        ),
        (
            "sqrt(M.dt)",
            "`M.dt` is 3 x 2, and only square matrices have a root",
        ),
        (
            "diag(M)",
            "`M` is 5 x 5, and only one row or column can be a diagonal",
        ),
        (
            "[M.tt, M.dd]",
            "`M.tt` is 2 x 2 and `M.dd` is 3 x 3: they have no equal numbers of rows",
        ),
        (
            "[M.tt; M.dd]",
            "`M.tt` is 2 x 2 and `M.dd` is 3 x 3: they have no equal numbers of columns",
        ),
    ] {
        let error = size(text).expect_err(text);
        assert_eq!(error.to_string(), expected, "{text}");
        assert!(!error.help().is_empty());
    }
    let rigid = Counts { rigid: 2, modal: 0 };
    let error = read("M.dd").unwrap().checked_size(rigid).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`M.dd` has no entries, because the reduced model has no modal coordinates"
    );
    let wide = format!("[{}]", vec!["M"; 13].join(", "));
    let error = size(&wide).unwrap_err().to_string();
    assert!(error.starts_with("the quantity is 5 x 65"), "{error}");
}

#[test]
fn absurd_texts_are_refused() {
    assert_eq!(read(&"M+".repeat(501)), Err(MatrixError::TooLong));
    let deep = format!("{}M{}", "(".repeat(100), ")".repeat(100));
    assert_eq!(read(&deep), Err(MatrixError::TooDeep));
    assert!(read(&"-".repeat(999)).is_err());
    let long = vec!["M"; 400].join("+");
    let counts = Counts { rigid: 1, modal: 0 };
    assert_eq!(read(&long).unwrap().size(counts), Ok(Some((1, 1))));
}
