// SPDX-License-Identifier: 0BSD
//! Runs the self-test of the generated model.

#[test]
fn computes_what_the_generator_did() {
    assert_eq!(press_model::selftest(), 0);
}
