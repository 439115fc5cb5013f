//! The commonest commit as one statement: an entry, a change of a live task and a delta of a document, or two of these. One
//! statement is atomic by itself. In an object a transaction around several, and each further call, cost more than what
//! they write (bench/): about a third of such a commit.
//!
//! A view takes the three, and its trigger hands them to the tables. Each part means exactly what its own statement does.

use super::statements::{self as sql, Statement};
use super::writes::{Cell, Writes};

/// The statements that fit, and where their cells begin in [`sql::SMALL_COMMIT`].
const PARTS: [(&Statement, usize); 3] = [
    (&sql::INSERT_ENTRY, 0),
    (&sql::UPDATE_TASK, 6),
    (&sql::APPEND_TO_DOCUMENT, 12),
];

/// All cells of [`sql::SMALL_COMMIT`].
const WIDTH: usize = 15;

/// Makes several writes one, when they are of these kinds and no two of the same.
pub(super) fn fuse(writes: &mut Writes) {
    if let Some(cells) = fused(writes) {
        writes.replace(&sql::SMALL_COMMIT, &cells);
    }
}

fn fused(writes: &Writes) -> Option<[Cell; WIDTH]> {
    let steps = writes.steps();
    if !(2..=PARTS.len()).contains(&steps.len()) {
        return None;
    }
    let mut fused = [Cell::Null; WIDTH];
    for (statement, cells) in steps {
        let (_, start) = PARTS.iter().find(|(part, _)| part.id == statement.id)?;
        let place = fused.get_mut(*start..*start + cells.len())?;
        // Every part begins with an id: its place is taken when the batch has two of a kind.
        if place.first() != Some(&Cell::Null) {
            return None;
        }
        place.copy_from_slice(cells);
    }
    Some(fused)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: Cell = Cell::Integer(7);

    fn batch(statements: &[&'static Statement]) -> Writes {
        let mut writes = Writes::default();
        for statement in statements {
            let width = match statement.id {
                id if id == sql::APPEND_TO_DOCUMENT.id => 3,
                _ => 6,
            };
            writes.push(statement, &vec![ID; width]);
        }
        writes
    }

    fn statements(writes: &Writes) -> Vec<usize> {
        writes.steps().map(|(statement, _)| statement.id).collect()
    }

    #[test]
    fn two_or_three_different_parts_become_one_statement() {
        for parts in [
            &[&sql::UPDATE_TASK, &sql::INSERT_ENTRY, &sql::APPEND_TO_DOCUMENT][..],
            &[&sql::UPDATE_TASK, &sql::APPEND_TO_DOCUMENT],
            &[&sql::INSERT_ENTRY, &sql::UPDATE_TASK],
        ] {
            let mut writes = batch(parts);
            fuse(&mut writes);
            assert_eq!(statements(&writes), [sql::SMALL_COMMIT.id]);
            let (_, cells) = writes.steps().next().unwrap();
            for (part, start) in PARTS {
                let present = parts.iter().any(|statement| statement.id == part.id);
                assert_eq!(cells.get(start) == Some(&ID), present, "{}", part.sql);
            }
        }
    }

    #[test]
    fn anything_else_stays_as_it_is() {
        for parts in [
            &[][..],
            &[&sql::UPDATE_TASK],
            &[&sql::UPDATE_TASK, &sql::UPDATE_TASK],
            &[&sql::INSERT_ENTRY, &sql::INSERT_ENTRY, &sql::UPDATE_TASK],
            &[&sql::UPDATE_TASK, &sql::REBASE_DOCUMENT],
        ] {
            let mut writes = batch(parts);
            fuse(&mut writes);
            let ids: Vec<usize> = parts.iter().map(|statement| statement.id).collect();
            assert_eq!(statements(&writes), ids);
        }
    }
}
