//! The writes of one commit: statements with their parameters, collected before the first of them runs.
//!
//! All texts are parts of one buffer, into which records are encoded directly. A driver so gets everything at once: over
//! JavaScript one call and one decoded string, instead of a call for each parameter.

use super::driver::Param;
use super::statements::Statement;

/// A part of the buffer, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    /// Its length in bytes.
    pub fn size(self) -> usize {
        self.end - self.start
    }
}

/// A parameter of a write, as [`Param`], with its text or bytes in the buffer. A text ends where characters do; a blob may
/// not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cell {
    #[default]
    Null,
    Integer(i64),
    Text(Span),
    Blob(Span),
}

impl From<i64> for Cell {
    fn from(integer: i64) -> Self {
        Self::Integer(integer)
    }
}

struct Step {
    statement: &'static Statement,
    /// Where its cells end; they begin where those of the step before do.
    end: usize,
}

/// Statements that write, in the order in which they run.
pub struct Writes {
    text: String,
    cells: Vec<Cell>,
    steps: Vec<Step>,
}

impl Default for Writes {
    /// None yet, and room for a small commit.
    fn default() -> Self {
        Self {
            text: String::with_capacity(1024),
            cells: Vec::with_capacity(32),
            steps: Vec::with_capacity(4),
        }
    }
}

impl Writes {
    /// Adds a statement.
    pub fn push(&mut self, statement: &'static Statement, cells: &[Cell]) {
        self.cells.extend_from_slice(cells);
        self.steps.push(Step {
            statement,
            end: self.cells.len(),
        });
    }

    /// One statement in place of all so far. The buffer stays.
    pub(super) fn replace(&mut self, statement: &'static Statement, cells: &[Cell]) {
        self.steps.clear();
        self.cells.clear();
        self.push(statement, cells);
    }

    /// What `write` appends to the buffer, and what it returns.
    pub(super) fn encode<T>(&mut self, write: impl FnOnce(&mut String) -> T) -> (Span, T) {
        let start = self.text.len();
        let returned = write(&mut self.text);
        let end = self.text.len();
        (Span { start, end }, returned)
    }

    /// A text of its own.
    pub fn text(&mut self, text: &str) -> Cell {
        Cell::Text(self.encode(|buffer| buffer.push_str(text)).0)
    }

    /// The statements with their cells, in order.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = (&'static Statement, &[Cell])> {
        let mut start = 0;
        self.steps.iter().map(move |step| {
            let cells = self.cells.get(start..step.end).unwrap_or_default();
            start = step.end;
            (step.statement, cells)
        })
    }

    /// The buffer.
    pub fn buffer(&self) -> &str {
        &self.text
    }

    /// A cell of these writes as a parameter.
    pub fn param(&self, cell: Cell) -> Param<'_> {
        match cell {
            Cell::Null => Param::Null,
            Cell::Integer(integer) => Param::Integer(integer),
            Cell::Text(Span { start, end }) => Param::Text(self.text.get(start..end).unwrap_or_default()),
            Cell::Blob(Span { start, end }) => {
                Param::Blob(self.text.as_bytes().get(start..end).unwrap_or_default())
            }
        }
    }
}
