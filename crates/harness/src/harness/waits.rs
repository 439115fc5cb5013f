//! Waits for submissions, fed by publications.

use futures::channel::oneshot;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use tidehold_session::ids::SubmissionId;
use tidehold_session::records::SubmissionRecord;
use tidehold_session::{Session, SessionError, Subscription};

/// Everyone who waits for a submission to settle.
pub(super) struct Waits {
    waiting: RefCell<HashMap<SubmissionId, Vec<oneshot::Sender<Rc<SubmissionRecord>>>>>,
    subscriptions: RefCell<Vec<Subscription>>,
}

impl Waits {
    pub fn new(session: &Session) -> Rc<Self> {
        let waits = Rc::new(Self {
            waiting: RefCell::default(),
            subscriptions: RefCell::default(),
        });
        let weak = Rc::downgrade(&waits);
        let commits = session.subscribe_commits(move |publication| {
            let Some(waits) = weak.upgrade() else { return };
            for record in publication
                .submissions
                .iter()
                .filter(|record| record.is_settled())
            {
                for waiter in waits.waiting.borrow_mut().remove(&record.id).unwrap_or_default() {
                    // Whoever stopped waiting needs no answer.
                    let _gone = waiter.send(Rc::clone(record));
                }
            }
        });
        let weak = Rc::downgrade(&waits);
        let close = session.subscribe_close(move |_| {
            if let Some(waits) = weak.upgrade() {
                // Dropping the senders ends every wait with the session's own error.
                waits.waiting.borrow_mut().clear();
            }
        });
        *waits.subscriptions.borrow_mut() = vec![commits, close];
        waits
    }

    /// Registers first and reads afterwards, so that no settlement falls between.
    pub async fn settled(
        &self,
        session: &Session,
        id: SubmissionId,
    ) -> Result<Option<Rc<SubmissionRecord>>, SessionError> {
        let (sender, settled) = oneshot::channel();
        self.waiting.borrow_mut().entry(id).or_default().push(sender);
        let Some(known) = session.submission(id).await? else {
            self.waiting.borrow_mut().remove(&id);
            return Ok(None);
        };
        if known.is_settled() {
            return Ok(Some(Rc::new(known)));
        }
        match settled.await {
            Ok(record) => Ok(Some(record)),
            Err(oneshot::Canceled) => Err(session.health().err().unwrap_or(SessionError::Closed)),
        }
    }
}
