//! What a session must hold, as plain lists and maps: no deltas, no bases, no copies, no ids.

use super::documents::Kind;
use std::collections::BTreeMap;
use std::fmt::Write;
use tidehold_session::documents::ForkPolicy;

/// What one commit does. Conversations, entries and tasks are named by the order of their creation.
#[derive(Clone, Debug)]
pub enum Action {
    Append {
        conversation: usize,
        label: u64,
        marks: bool,
    },
    Edit {
        conversation: usize,
        kind: Kind,
        version: u32,
        to: u64,
    },
    Retire {
        conversation: usize,
        kind: Kind,
    },
    Fork {
        parent: usize,
        at: u64,
    },
    EditSession {
        to: u64,
    },
    CreateTask {
        conversation: usize,
    },
    EditTask {
        task: usize,
        to: u64,
    },
    FinishTask {
        task: usize,
    },
}

#[derive(Clone, Debug, Default)]
pub struct Model {
    pub conversations: Vec<Conversation>,
    pub tasks: Vec<Task>,
    session: Option<Value>,
}

#[derive(Clone, Debug, Default)]
pub struct Conversation {
    pub parent: Option<(usize, u64)>,
    pub entries: Vec<Entry>,
    pub documents: BTreeMap<Kind, Document>,
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub label: u64,
    marks: bool,
    /// The documents at the end of its commit.
    then: BTreeMap<Kind, Document>,
}

#[derive(Clone, Debug)]
pub struct Task {
    pub live: bool,
    document: Option<Value>,
}

#[derive(Clone, Debug)]
pub struct Document {
    pub version: u32,
    value: Value,
}

#[derive(Clone, Debug, Default)]
struct Value {
    n: u64,
    log: Vec<u64>,
    text: String,
    from: Option<u32>,
}

impl Value {
    fn edit(&mut self, to: u64) {
        self.n = to;
        match to % 3 {
            0 => self.log.push(to),
            1 if !self.log.is_empty() => drop(self.log.remove(0)),
            _ => {}
        }
        match to % 5 {
            0 => self.text.clear(),
            _ => self.text.push(letter(to)),
        }
    }

    fn json(&self) -> String {
        let mut json = format!(
            "{{\"n\":{},\"log\":{:?},\"text\":{:?}",
            self.n, self.log, self.text
        );
        if let Some(from) = self.from {
            let _ = write!(json, ",\"from\":{from}");
        }
        (json + "}").replace(' ', "")
    }
}

/// What an edit appends.
pub fn letter(to: u64) -> char {
    ['t', 'ï', 'd', '😀'][to as usize % 4]
}

impl Document {
    /// As the newest definition reads it.
    fn read(&self) -> Value {
        let mut value = self.value.clone();
        if self.version == 1 {
            value.from = Some(1);
        }
        value
    }
}

impl Model {
    pub fn apply(&mut self, commit: &[Action]) {
        for action in commit {
            self.act(action);
        }
        // The end of the commit is what its entries stand for.
        for action in commit {
            if let Action::Append {
                conversation, label, ..
            } = action
            {
                let conversation = &mut self.conversations[*conversation];
                let documents = conversation.documents.clone();
                let entry = conversation
                    .entries
                    .iter_mut()
                    .find(|entry| entry.label == *label);
                entry.unwrap().then = documents;
            }
        }
    }

    fn act(&mut self, action: &Action) {
        match *action {
            Action::Append {
                conversation,
                label,
                marks,
            } => {
                let then = BTreeMap::new();
                self.conversations[conversation]
                    .entries
                    .push(Entry { label, marks, then });
            }
            Action::Edit {
                conversation,
                kind,
                version,
                to,
            } => {
                let created = Document {
                    version,
                    value: Value::default(),
                };
                let documents = &mut self.conversations[conversation].documents;
                let document = documents.entry(kind).or_insert(created);
                if document.version < version {
                    document.value = document.read();
                    document.version = version;
                }
                document.value.edit(to);
            }
            Action::Retire { conversation, kind } => {
                self.conversations[conversation].documents.remove(&kind);
            }
            Action::Fork { parent, at } => {
                let (owner, entry) = self.find(parent, at).unwrap();
                let then = &self.conversations[owner].entries[entry].then;
                let then = then.iter().filter(|(kind, _)| kind.fork() == ForkPolicy::AsOf);
                let now = self.conversations[parent].documents.iter();
                let now = now.filter(|(kind, _)| kind.fork() == ForkPolicy::Current);
                let documents = then.chain(now).map(|(kind, document)| (*kind, document.clone()));
                let child = Conversation {
                    parent: Some((parent, at)),
                    entries: Vec::new(),
                    documents: documents.collect(),
                };
                self.conversations.push(child);
            }
            Action::EditSession { to } => self.session.get_or_insert_default().edit(to),
            Action::CreateTask { .. } => self.tasks.push(Task {
                live: true,
                document: None,
            }),
            Action::EditTask { task, to } => self.tasks[task].document.get_or_insert_default().edit(to),
            Action::FinishTask { task } => {
                self.tasks[task] = Task {
                    live: false,
                    document: None,
                };
            }
        }
    }

    /// The conversation that owns a visible entry, and its place there.
    fn find(&self, conversation: usize, label: u64) -> Option<(usize, usize)> {
        self.visible(conversation)
            .into_iter()
            .find(|(owner, entry)| self.conversations[*owner].entries[*entry].label == label)
    }

    /// What a conversation sees, oldest first, as owners and places there.
    pub fn visible(&self, conversation: usize) -> Vec<(usize, usize)> {
        let Conversation { parent, entries, .. } = &self.conversations[conversation];
        let mut visible = match parent {
            Some((parent, at)) => {
                let mut inherited = self.visible(*parent);
                let (owner, entry) = self.find(*parent, *at).unwrap();
                let last = inherited.iter().position(|seen| *seen == (owner, entry)).unwrap();
                inherited.truncate(last + 1);
                inherited
            }
            None => Vec::new(),
        };
        visible.extend((0..entries.len()).map(|entry| (conversation, entry)));
        visible
    }

    /// The labels a conversation sees.
    pub fn labels(&self, conversation: usize) -> Vec<u64> {
        let visible = self.visible(conversation).into_iter();
        visible
            .map(|(owner, entry)| self.conversations[owner].entries[entry].label)
            .collect()
    }

    /// Everything, line by line, as `observe` writes what a session holds.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let shown = |value: Option<Value>| value.map_or("none".to_owned(), |value| value.json());
        lines.push(format!("session {}", shown(self.session.clone())));
        for (number, conversation) in self.conversations.iter().enumerate() {
            lines.push(format!("conversation {number} from {:?}", conversation.parent));
            let visible = self.visible(number);
            lines.push(format!("sees {:?}", self.labels(number)));
            let mark = visible
                .iter()
                .rev()
                .find(|(owner, entry)| self.conversations[*owner].entries[*entry].marks);
            let mark = mark.map(|(owner, entry)| self.conversations[*owner].entries[*entry].label);
            lines.push(format!("marked {mark:?}"));
            for kind in super::documents::KINDS {
                let now = conversation.documents.get(&kind).map(Document::read);
                lines.push(format!("{kind:?} {}", shown(now)));
                if kind.fork() != ForkPolicy::AsOf {
                    continue;
                }
                for (owner, entry) in &visible {
                    let entry = &self.conversations[*owner].entries[*entry];
                    let then = entry.then.get(&kind).map(Document::read);
                    lines.push(format!("{kind:?} at {} {}", entry.label, shown(then)));
                }
            }
        }
        for (number, task) in self.tasks.iter().enumerate() {
            let state = if task.live { "live" } else { "ended" };
            lines.push(format!("task {number} {state} {}", shown(task.document.clone())));
        }
        lines
    }
}
