//! An inversion as a table that scenarios take their drives from.

use super::{Inversion, Tracked};
use crate::reduced_model::ReducedModel;

impl Inversion {
    /// Names of the columns: time, coordinates, their rates, forces, modal coordinates, what is wanted, and
    /// coordinates and forces of the rigid and the quasi-static feedforward.
    pub fn columns(&self, model: &ReducedModel, tracked: &[Tracked]) -> Vec<String> {
        let layout = &model.layout;
        let (rigid, modal) = layout.coordinates.split_at(layout.n_rigid);
        let mut columns = vec!["time".to_owned()];
        for what in ["coordinate", "rate", "force"] {
            columns.extend(rigid.iter().map(|c| format!("{what}.{}", c.name)));
        }
        columns.extend(modal.iter().map(|c| format!("modal.{}", c.name)));
        columns.extend(tracked.iter().map(|t| format!("wanted.{}", t.name)));
        for kind in ["rigid", "quasi_static"] {
            for what in ["coordinate", "force"] {
                columns.extend(rigid.iter().map(|c| format!("{kind}.{what}.{}", c.name)));
            }
        }
        columns
    }

    /// Numbers of these columns at one instant.
    pub fn row(&self, i: usize) -> impl Iterator<Item = f64> {
        let lists = [
            &self.exact.theta[i],
            &self.rate[i],
            &self.exact.force[i],
            &self.modal[i],
            &self.wanted[i],
            &self.rigid.theta[i],
            &self.rigid.force[i],
            &self.quasi_static.theta[i],
            &self.quasi_static.force[i],
        ];
        let numbers = lists.into_iter().flatten().copied();
        std::iter::once(self.times[i]).chain(numbers)
    }

    /// The table as comma-separated values; numbers read back exactly.
    pub fn to_csv(&self, model: &ReducedModel, tracked: &[Tracked]) -> String {
        let mut text = self.columns(model, tracked).join(",");
        text.push('\n');
        for i in 0..self.times.len() {
            let numbers: Vec<String> = self.row(i).map(|value| format!("{value:e}")).collect();
            text += &numbers.join(",");
            text.push('\n');
        }
        text
    }
}
