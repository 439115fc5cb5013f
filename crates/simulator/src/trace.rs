//! What happened, in words. Written only when somebody will read it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt::Write;
use std::rc::Rc;
use tidehold_session::host::Millis;
use tidehold_session::publication::Publication;
use tidehold_session::records::{TaskRecord, TaskState};

/// Lines kept; a breach is explained by the last ones.
const LINES: usize = 600;

/// A bounded list of lines. Clones share it.
#[derive(Clone, Debug)]
pub struct Trace(Option<Rc<Lines>>);

#[derive(Debug, Default)]
struct Lines {
    now: Cell<Millis>,
    lines: RefCell<VecDeque<String>>,
    dropped: Cell<usize>,
}

impl Trace {
    /// Keeps nothing and builds no line.
    pub fn off() -> Self {
        Self(None)
    }

    pub fn on() -> Self {
        Self(Some(Rc::default()))
    }

    /// The time of the lines that follow.
    pub fn at(&self, now: Millis) {
        if let Some(lines) = &self.0 {
            lines.now.set(now);
        }
    }

    /// Adds a line.
    pub fn line(&self, text: impl FnOnce() -> String) {
        let Some(trace) = &self.0 else { return };
        let mut lines = trace.lines.borrow_mut();
        if lines.len() == LINES {
            lines.pop_front();
            trace.dropped.set(trace.dropped.get() + 1);
        }
        lines.push_back(format!("{:>12}  {}", trace.now.get(), text()));
    }

    /// Everything kept.
    pub fn text(&self) -> String {
        let Some(trace) = &self.0 else {
            return String::new();
        };
        let mut text = String::new();
        if trace.dropped.get() > 0 {
            let _infallible = writeln!(text, "({} earlier lines left out)", trace.dropped.get());
        }
        for line in trace.lines.borrow().iter() {
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

/// What a commit changed, in one line.
pub fn of_publication(publication: &Publication) -> String {
    let mut text = format!("commit {}:", publication.seq);
    for conversation in &publication.conversations {
        let owner = conversation.owner.map(|owner| owner.task_id);
        let owner = owner.map_or_else(String::new, |owner| format!(" of task {owner}"));
        let _infallible = write!(text, " +conversation {}{owner};", conversation.id);
    }
    for entry in &publication.entries {
        let _infallible = write!(text, " +{} {};", entry.kind, entry.id);
    }
    for submission in &publication.submissions {
        let _infallible = write!(text, " submission {} {:?};", submission.id, submission.state);
    }
    for change in &publication.tasks {
        let after = of_task(&change.after);
        let _infallible = match &change.before {
            None => {
                let owner = change.after.owner.map(|owner| format!(" of {owner}"));
                let background = if change.after.background {
                    " background"
                } else {
                    ""
                };
                let (id, place) = (change.after.id, change.after.conversation_id);
                write!(
                    text,
                    " +task {id}{} in {place}{background} {after};",
                    owner.unwrap_or_default()
                )
            }
            Some(before) => write!(text, " task {} {} -> {after};", change.after.id, of_task(before)),
        };
    }
    for document in &publication.documents {
        let _infallible = write!(text, " {};", document.record.kind);
    }
    text
}

fn of_task(record: &TaskRecord) -> String {
    let mark = match (record.abort_requested, record.abort_reason) {
        (false, _) => "",
        (true, None) => "!",
        (true, Some(_)) => "!restart ",
    };
    let state = match &record.state {
        TaskState::Pending { checkpoint } => format!("pending {checkpoint}"),
        TaskState::Running { checkpoint } => format!("running {checkpoint}"),
        TaskState::Waiting { on, until, .. } => {
            let on: Vec<String> = on.iter().map(ToString::to_string).collect();
            format!("waiting [{}] until {until:?}", on.join(" "))
        }
        TaskState::Completing { outcome } => format!("holding {outcome:?}"),
        TaskState::Terminal { outcome } => format!("ended {outcome:?}"),
    };
    format!("{mark}{state}")
}
