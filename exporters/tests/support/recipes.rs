//! Which synthetic models there are.

use reducer::reduced_model::*;

/// What a synthetic model is made of.
#[derive(Clone)]
pub struct Recipe {
    pub name: &'static str,
    pub form: ModelForm,
    pub s: usize,
    pub modal: usize,
    pub degree: u8,
    /// Cuts, each halving every box along the axis.
    pub cuts: Vec<usize>,
    /// The first leaf is a dropped region.
    pub drop_first: bool,
    pub outputs: usize,
    pub loaded: usize,
    pub periodic: bool,
    pub inequality: bool,
    /// Terms of the first box are thinned out.
    pub holes: bool,
    /// Gravity is stored per axis, and something of every parameter is part of the model.
    pub runtime: bool,
    /// Coordinates whose functions are waves.
    pub waves: Vec<usize>,
    /// The mass is stored by its entries in the form `lagrangian`.
    pub mass_entries: bool,
    /// Rates, accelerations and loads change the stiffness.
    pub second_order: bool,
    /// Every function has a quarter of the terms, not the same ones.
    pub sparse: bool,
    /// Every second function that may be one is a combination of columns.
    pub combined: bool,
    /// There are derived quantities: one with zeros and constants, and a single entry; in the form `direct` both are
    /// the same everywhere.
    pub derived: bool,
}

pub fn recipes() -> Vec<Recipe> {
    let base = Recipe {
        name: "base",
        form: ModelForm::Lagrangian,
        s: 1,
        modal: 0,
        degree: 3,
        cuts: vec![],
        drop_first: false,
        outputs: 0,
        loaded: 0,
        periodic: false,
        inequality: false,
        holes: false,
        runtime: false,
        waves: vec![],
        mass_entries: false,
        second_order: false,
        sparse: false,
        combined: false,
        derived: false,
    };
    vec![
        Recipe {
            name: "pendulum",
            periodic: true,
            ..base.clone()
        },
        Recipe {
            name: "flexible_arm",
            modal: 3,
            degree: 6,
            cuts: vec![0, 0],
            outputs: 2,
            loaded: 1,
            ..base.clone()
        },
        Recipe {
            name: "two_axes",
            s: 2,
            modal: 2,
            degree: 4,
            cuts: vec![0, 1],
            drop_first: true,
            outputs: 1,
            inequality: true,
            holes: true,
            ..base.clone()
        },
        Recipe {
            name: "glide",
            s: 3,
            degree: 5,
            outputs: 1,
            ..base.clone()
        },
        Recipe {
            name: "thesis_arm",
            form: ModelForm::Direct,
            modal: 2,
            degree: 2,
            cuts: vec![0, 0, 0],
            outputs: 1,
            loaded: 2,
            ..base.clone()
        },
        Recipe {
            name: "direct_glide",
            form: ModelForm::Direct,
            s: 3,
            degree: 2,
            cuts: vec![0, 1, 2],
            ..base.clone()
        },
        Recipe {
            name: "direct_holes",
            form: ModelForm::Direct,
            s: 3,
            degree: 4,
            cuts: vec![2, 0],
            outputs: 1,
            holes: true,
            ..base.clone()
        },
        Recipe {
            name: "press",
            modal: 1,
            loaded: 1,
            ..base.clone()
        },
        Recipe {
            name: "tilted_arm",
            s: 2,
            modal: 2,
            degree: 3,
            outputs: 2,
            runtime: true,
            ..base.clone()
        },
        Recipe {
            name: "tilted_blocks",
            form: ModelForm::Direct,
            s: 2,
            modal: 1,
            degree: 2,
            cuts: vec![0],
            outputs: 1,
            runtime: true,
            ..base.clone()
        },
        Recipe {
            name: "tilted_bare",
            s: 2,
            runtime: true,
            ..base.clone()
        },
        Recipe {
            name: "turning_arm",
            s: 3,
            degree: 4,
            outputs: 1,
            periodic: true,
            runtime: true,
            waves: vec![0, 2],
            mass_entries: true,
            holes: true,
            ..base.clone()
        },
        Recipe {
            name: "turning_press",
            s: 2,
            modal: 1,
            loaded: 1,
            cuts: vec![1],
            waves: vec![0],
            ..base.clone()
        },
        Recipe {
            name: "fast_arm",
            s: 2,
            modal: 3,
            degree: 3,
            cuts: vec![1],
            outputs: 1,
            loaded: 1,
            second_order: true,
            ..base.clone()
        },
        Recipe {
            name: "fast_tilted",
            s: 2,
            modal: 2,
            degree: 3,
            outputs: 2,
            runtime: true,
            second_order: true,
            ..base.clone()
        },
        Recipe {
            name: "fast_blocks",
            form: ModelForm::Direct,
            s: 2,
            modal: 2,
            degree: 2,
            outputs: 1,
            runtime: true,
            second_order: true,
            ..base.clone()
        },
        Recipe {
            name: "fast_sparse",
            s: 4,
            modal: 2,
            degree: 3,
            cuts: vec![2],
            outputs: 1,
            runtime: true,
            second_order: true,
            sparse: true,
            holes: true,
            ..base.clone()
        },
        Recipe {
            name: "turning_five",
            s: 5,
            degree: 2,
            periodic: true,
            runtime: true,
            waves: vec![0, 2, 3],
            mass_entries: true,
            ..base.clone()
        },
        Recipe {
            name: "gains",
            s: 2,
            modal: 2,
            degree: 7,
            cuts: vec![0],
            drop_first: true,
            outputs: 1,
            sparse: true,
            derived: true,
            ..base.clone()
        },
        Recipe {
            name: "direct_gains",
            form: ModelForm::Direct,
            s: 2,
            modal: 1,
            degree: 2,
            cuts: vec![1, 0],
            derived: true,
            ..base.clone()
        },
        Recipe {
            name: "turning_gains",
            s: 3,
            degree: 3,
            waves: vec![0, 2],
            periodic: true,
            mass_entries: true,
            derived: true,
            ..base.clone()
        },
        Recipe {
            name: "six",
            s: 6,
            modal: 1,
            degree: 2,
            outputs: 1,
            ..base.clone()
        },
        Recipe {
            name: "combined_arm",
            modal: 4,
            degree: 5,
            cuts: vec![0],
            outputs: 1,
            loaded: 1,
            combined: true,
            ..base.clone()
        },
        Recipe {
            name: "combined_fast",
            s: 2,
            modal: 3,
            degree: 3,
            cuts: vec![1],
            outputs: 1,
            runtime: true,
            second_order: true,
            combined: true,
            ..base.clone()
        },
        Recipe {
            name: "combined_sparse",
            s: 4,
            modal: 3,
            degree: 3,
            outputs: 1,
            sparse: true,
            combined: true,
            ..base.clone()
        },
        Recipe {
            name: "combined_blocks",
            form: ModelForm::Direct,
            s: 2,
            modal: 2,
            degree: 2,
            cuts: vec![0],
            outputs: 1,
            runtime: true,
            second_order: true,
            combined: true,
            ..base
        },
    ]
}
