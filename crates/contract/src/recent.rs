//! The runs that settled while this session has been open: those whose values a wait may inline, because their evidence
//! is still warm. Ids only, the newest few; nothing depends on it but the form of delivery.

use crate::limits::RECENT_RUNS;
use crate::run;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use tidehold_session::ids::TaskId;
use tidehold_session::{Session, Subscription};

/// Remembers settled runs for as long as it lives.
pub(crate) struct Recent {
    settled: Rc<RefCell<VecDeque<TaskId>>>,
    _commits: Subscription,
}

impl Recent {
    pub fn watch(session: &Session) -> Self {
        let settled: Rc<RefCell<VecDeque<TaskId>>> = Rc::default();
        let seen = Rc::clone(&settled);
        let commits = session.subscribe_commits(move |publication| {
            let runs = publication
                .tasks
                .iter()
                .filter(|task| &*task.after.kind == run::KIND);
            for task in runs.filter(|task| !task.after.is_live()) {
                let mut seen = seen.borrow_mut();
                seen.push_back(task.after.id);
                if seen.len() > RECENT_RUNS {
                    seen.pop_front();
                }
            }
        });
        Self {
            settled,
            _commits: commits,
        }
    }

    pub fn contains(&self, anchor: TaskId) -> bool {
        self.settled.borrow().contains(&anchor)
    }
}
