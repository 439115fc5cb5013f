//! The fold over a range's entries.

use super::ContextView;
use super::edits::Edits;
use super::leading::Leading;
use super::message;
use super::pairing::Pairing;
use crate::records::{ContextEditAction, EntryRecord};
use std::rc::Rc;
use tidehold_delta::Json;

pub(super) struct Derivation {
    head: Option<Rc<EntryRecord>>,
    edits: Edits,
    entries: Vec<Rc<EntryRecord>>,
    contributions: Vec<Rc<[Json]>>,
    pairing: Pairing,
    leading: Leading,
}

impl Derivation {
    /// Starts with the head marker, the first entry of its context wherever the range has it (rule 5). `edits` are
    /// those of the whole range: an edit comes after the entry it changes.
    pub fn new(marker: Option<Rc<EntryRecord>>, edits: Edits) -> Self {
        let mut derivation = Self {
            head: marker.clone(),
            edits,
            entries: Vec::new(),
            contributions: Vec::new(),
            pairing: Pairing::default(),
            leading: Leading::new(marker.as_ref().map(|marker| marker.id)),
        };
        if let Some(marker) = marker {
            derivation.add(marker);
        }
        derivation
    }

    /// Takes the next entry of the range.
    pub fn push(&mut self, entry: Rc<EntryRecord>) {
        // The marker itself has its place already; an older one no longer stands for anything (rule 5).
        if self.head.is_none() || entry.head.is_none() {
            self.add(entry);
        }
    }

    pub fn view(&self) -> ContextView {
        let mut messages = self.pairing.messages();
        self.leading.lead(&mut messages);
        ContextView {
            head: self.head.clone(),
            entries: self.entries.clone(),
            contributions: self.contributions.clone(),
            messages,
        }
    }

    fn add(&mut self, entry: Rc<EntryRecord>) {
        let edit = self.edits.of(entry.id);
        let contribution = contribution(&entry, edit);
        self.leading.see(&entry, edit.is_some(), &contribution);
        for message in &*contribution {
            self.pairing.push(message.clone());
        }
        self.entries.push(entry);
        self.contributions.push(contribution);
    }
}

/// The model messages of one entry after its edit (rule 4) and the exclusions (rule 9).
///
/// A replacement stands for its target whole, so it also gives messages to a target that has none of its own.
fn contribution(entry: &EntryRecord, edit: Option<&ContextEditAction>) -> Rc<[Json]> {
    let messages = match edit {
        Some(ContextEditAction::Omit) => None,
        Some(ContextEditAction::Replace { messages }) => Some(messages),
        None => entry.model.as_ref(),
    };
    messages
        .into_iter()
        .flatten()
        .filter(|message| !message::is_excluded(message))
        .cloned()
        .collect()
}
