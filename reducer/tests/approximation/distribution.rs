//! Samples that several processes share; here they are threads.

use crate::flexible::Flexible;
use crate::settings;
use reducer::approximation::{LocalModel, SampleDatabase, SampleFailure, Silent};
use reducer::description::mechanism::ApproximationSettings;
use reducer::distribution::{Leader, Letter, Post, RankError, follow};
use reducer::pipeline::reduce;
use reducer::reduced_model::ModelLayout;
use reducer::reduction::Coefficients;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Posts of so many ranks that are connected with one another; `change` sees every letter with the rank that sends it and the number
/// of letters that it has sent before.
fn connected(ranks: usize, change: fn(usize, usize, &mut Letter)) -> Vec<Post> {
    let all: Vec<_> = (0..ranks).map(|_| Post::new()).collect();
    let doors: Vec<_> = all.iter().map(|(_, _, door)| door.clone()).collect();
    let mut posts = Vec::new();
    for (from, (post, out, _)) in all.into_iter().enumerate() {
        let doors = doors.clone();
        thread::spawn(move || {
            for (count, mut letter) in out.into_iter().enumerate() {
                change(from, count, &mut letter);
                let to = std::mem::replace(&mut letter.rank, from);
                let _ = doors[to].send(letter);
            }
        });
        posts.push(post);
    }
    posts
}

/// A model that counts what it is asked for.
struct Counted {
    model: Flexible,
    asked: AtomicUsize,
}

impl Counted {
    fn new() -> Self {
        let mut model = Flexible::new(2, 2);
        model.wildness = 2.0;
        model.singular_above = 0.8;
        Self {
            model,
            asked: AtomicUsize::new(0),
        }
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl LocalModel for Counted {
    fn layout(&self) -> ModelLayout {
        self.model.layout()
    }

    fn evaluate(&self, theta: &[f64]) -> Result<Coefficients, SampleFailure> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.model.evaluate(theta)
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.model.fingerprint()
    }
}

fn strict() -> ApproximationSettings {
    let mut settings = settings(&[0.1; 2]);
    settings.tolerance = 1e-3;
    settings
}

/// Model and summary, as bytes.
fn bytes(local: &dyn LocalModel) -> (String, String) {
    let mut database = SampleDatabase::in_memory();
    let (model, summary) = reduce(local, &strict(), &Silent, &mut database).expect("a model");
    let text = |value: serde_json::Result<String>| value.expect("plain data");
    (
        text(serde_json::to_string(&model)),
        text(serde_json::to_string(&summary)),
    )
}

/// What three ranks make, and how much each of them was asked for.
fn by_three(change: fn(usize, usize, &mut Letter)) -> ((String, String), [usize; 3]) {
    let mut posts = connected(3, change).into_iter();
    let leading = posts.next().expect("the first");
    let models = [Counted::new(), Counted::new(), Counted::new()];
    let made = thread::scope(|scope| {
        for (post, model) in posts.zip(&models[1..]) {
            scope.spawn(move || follow(&post, Ok(model)));
        }
        let leader = Leader::new(leading, 3);
        leader
            .gather(models[0].fingerprint())
            .expect("all ranks are ready");
        bytes(&leader.share(&models[0]))
    });
    (made, models.map(|m| m.asked()))
}

#[test]
fn three_ranks_make_the_bytes_of_one() {
    let alone = Counted::new();
    let expected = bytes(&alone);
    let (made, asked) = by_three(|_, _, _| {});
    assert!(made == expected, "ranks change the model");
    assert_eq!(asked.iter().sum::<usize>(), alone.asked(), "{asked:?}");
    assert!(asked.iter().all(|count| *count > 0), "{asked:?}");
}

#[test]
fn what_a_rank_loses_the_first_one_makes_up() {
    let expected = bytes(&Counted::new());
    // Rank 2 sends what nobody understands after some letters.
    let (made, asked) = by_three(|from, count, letter| {
        if from == 2 && count > 2 {
            letter.bytes = vec![0xff; 3];
        }
    });
    assert!(made == expected, "a lost rank changes the model");
    assert!(asked[0] > asked[2], "{asked:?}");
}

#[test]
fn a_rank_with_another_mechanism_or_none_is_refused() {
    let mut posts = connected(2, |_, _, _| {});
    let (other, first) = (posts.remove(1), posts.remove(0));
    let mut strange = Flexible::new(2, 2);
    strange.springs = true;
    let leader = Leader::new(first, 2);
    thread::scope(|scope| {
        scope.spawn(move || follow(&other, Ok(&strange)));
        let own = Flexible::new(3, 2).fingerprint();
        assert_eq!(leader.gather(own), Err(RankError::Differs { rank: 1 }));
        drop(leader);
    });
    let mut posts = connected(2, |_, _, _| {});
    let (other, first) = (posts.remove(1), posts.remove(0));
    let leader = Leader::new(first, 2);
    thread::scope(|scope| {
        scope.spawn(move || follow(&other, Err("no such file".to_owned())));
        let told = leader.gather([0; 32]).expect_err("a rank is unable");
        assert_eq!(told.to_string(), "rank 1 cannot take part: no such file");
        drop(leader);
    });
}
