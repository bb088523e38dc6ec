//! Condensed bodies on disk: the same bits come back, and nothing else does.

use super::{CALCULIX, body_of, folder};
use reducer::description::mechanism::{BodyKind, Mechanism};
use reducer::finite_elements::{BodyStore, Modes, Superelement};

const KEY: [u8; 32] = [3; 32];

fn small() -> Superelement {
    let body = body_of(&CALCULIX).expect("a body");
    let condensed = body.condense(&body.interfaces(), Modes::Count(2));
    Superelement::new(&body, &condensed.expect("condensed"))
}

fn only_file(folder: &std::path::Path) -> std::path::PathBuf {
    let mut all: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

#[test]
fn what_was_put_comes_back_and_nothing_else() {
    let body = small();
    let place = tempfile::tempdir().expect("a folder");
    let store = BodyStore::new(&place.path().join("bodies"));
    assert!(store.get(&KEY).is_none());
    store.put(&KEY, &body);
    let back = store.get(&KEY).expect("stored");
    assert_eq!(format!("{back:?}"), format!("{body:?}"));
    assert_eq!(back.picture, body.picture);
    let path = only_file(&place.path().join("bodies"));
    let whole = std::fs::read(&path).expect("the file");
    for at in (0..whole.len()).step_by(997) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        std::fs::write(&path, &damaged).expect("written");
        assert!(store.get(&KEY).is_none(), "byte {at}");
        std::fs::write(&path, &whole[..at]).expect("written");
        assert!(store.get(&KEY).is_none(), "{at} bytes");
    }
    // Whole, but of another key.
    let other = [4; 32];
    store.put(&other, &body);
    let foreign = std::fs::read_dir(place.path().join("bodies")).expect("a folder");
    let foreign = foreign.flatten().map(|e| e.path()).find(|p| *p != path);
    std::fs::rename(foreign.expect("the other"), &path).expect("moved");
    assert!(store.get(&KEY).is_none());
    std::fs::remove_file(&path).expect("removed");
    std::fs::create_dir(&path).expect("a folder in its place");
    assert!(store.get(&KEY).is_none());
    store.put(&KEY, &body);
}

/// A mechanism takes its body from the store, whole or not at all.
#[test]
fn mechanisms_take_stored_bodies() {
    let place = tempfile::tempdir().expect("a folder");
    let load = || -> Mechanism {
        let stores = |name: &str| {
            assert_eq!(name, "four_bar_solid_coupler");
            Some(BodyStore::new(place.path()))
        };
        reducer::description::load_with(&folder().join("four_bar.toml"), &stores)
            .unwrap_or_else(|faults| panic!("{faults}"))
    };
    let body = |mechanism: &Mechanism| match &mechanism.bodies[1].kind {
        BodyKind::Superelement(own) => own.clone(),
        other => panic!("{other:?}"),
    };
    let first = body(&load());
    let path = only_file(place.path());
    let whole = std::fs::read(&path).expect("the file");
    assert_eq!(format!("{:?}", body(&load())), format!("{first:?}"));
    // Another body under this key would be believed: it is looked for there.
    let key: [u8; 32] = whole[8..40].try_into().expect("a key");
    let mut other = (*first).clone();
    other.frequencies_hz[0] += 1.0;
    BodyStore::new(place.path()).put(&key, &other);
    assert_eq!(body(&load()).frequencies_hz, other.frequencies_hz);
    // A damaged one is computed and written again.
    std::fs::write(&path, &whole[..whole.len() / 2]).expect("written");
    assert_eq!(format!("{:?}", body(&load())), format!("{first:?}"));
    assert_eq!(std::fs::read(&path).expect("the file"), whole);
}
