//! Work that ends: what a refinement may take.

use crate::description::mechanism::Budgets;
use crate::reduced_model::CutShort;

/// What a refinement will have taken after its next wave.
pub(super) struct Needed {
    pub numbers: usize,
    pub boxes: usize,
    pub samples: usize,
}

impl Needed {
    /// The first budget that this exceeds.
    pub fn over(&self, budgets: &Budgets) -> Option<CutShort> {
        let used = [
            (CutShort::Samples, self.samples, budgets.samples),
            (CutShort::Boxes, self.boxes, budgets.boxes),
            (CutShort::Numbers, self.numbers, budgets.numbers),
        ];
        let exceeded = used.into_iter().find(|(_, used, most)| used > most);
        exceeded.map(|(budget, ..)| budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_may_be_used_up_but_not_exceeded() {
        let budgets = Budgets {
            numbers: 100,
            boxes: 10,
            samples: 50,
        };
        let over = |numbers, boxes, samples| {
            let needed = Needed {
                numbers,
                boxes,
                samples,
            };
            needed.over(&budgets)
        };
        assert_eq!(over(100, 10, 50), None);
        assert_eq!(over(101, 10, 50), Some(CutShort::Numbers));
        assert_eq!(over(100, 11, 50), Some(CutShort::Boxes));
        assert_eq!(over(101, 11, 51), Some(CutShort::Samples));
    }
}
