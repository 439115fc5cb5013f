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

/// One wait. Takes its registration along, however it ends.
struct Wait<'a> {
    waits: &'a Waits,
    id: SubmissionId,
    settled: oneshot::Receiver<Rc<SubmissionRecord>>,
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        // Tells this wait's sender from those of others.
        self.settled.close();
        let mut waiting = self.waits.waiting.borrow_mut();
        if let Some(senders) = waiting.get_mut(&self.id) {
            senders.retain(|sender| !sender.is_canceled());
            if senders.is_empty() {
                waiting.remove(&self.id);
            }
        }
    }
}

impl Waits {
    pub fn new(session: &Session) -> Rc<Self> {
        let waits = Rc::new(Self {
            waiting: RefCell::default(),
            subscriptions: RefCell::default(),
        });
        let weak = Rc::downgrade(&waits);
        let commits = session.attach(move |publication| {
            let Some(waits) = weak.upgrade() else { return };
            for record in publication
                .submissions
                .iter()
                .filter(|record| record.is_settled())
            {
                let waiting = waits.waiting.borrow_mut().remove(&record.id);
                for waiter in waiting.unwrap_or_default() {
                    // Whoever stopped waiting needs no answer.
                    let _gone = waiter.send(Rc::clone(record));
                }
            }
        });
        let weak = Rc::downgrade(&waits);
        let close = session.subscribe_close(move |_| {
            if let Some(waits) = weak.upgrade() {
                // Dropping the senders ends every wait with the session's own error.
                drop(waits.waiting.take());
            }
        });
        *waits.subscriptions.borrow_mut() = vec![commits, close];
        waits
    }

    fn register(&self, id: SubmissionId) -> Wait<'_> {
        let (sender, settled) = oneshot::channel();
        self.waiting.borrow_mut().entry(id).or_default().push(sender);
        let waits = self;
        Wait { waits, id, settled }
    }

    /// Registers first and reads afterwards, so that no settlement falls between.
    pub async fn settled(
        &self,
        session: &Session,
        id: SubmissionId,
    ) -> Result<Option<Rc<SubmissionRecord>>, SessionError> {
        let mut wait = self.register(id);
        let Some(known) = session.submission(id).await? else {
            return Ok(None);
        };
        if known.is_settled() {
            return Ok(Some(Rc::new(known)));
        }
        match (&mut wait.settled).await {
            Ok(record) => Ok(Some(record)),
            Err(oneshot::Canceled) => Err(session.health().err().unwrap_or(SessionError::Closed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::future::{Either, select};
    use tidehold_session::host_local::LocalRuntime;
    use tidehold_session::ids::ROOT_CONVERSATION_ID;
    use tidehold_session::records::{InputStatus, SubmissionSettlement, SubmissionState};
    use tidehold_session::{SessionOptions, Tx};
    use tidehold_storage::memory::MemoryStorage;

    fn queued() -> SubmissionState {
        SubmissionState::Input(InputStatus::Queued)
    }

    fn unanswered() -> SubmissionSettlement {
        SubmissionSettlement::Unanswered {
            reason: "test".into(),
            detail: None,
        }
    }

    async fn settle(session: &Session, id: SubmissionId) {
        session
            .commit::<_, SessionError, _>(async move |tx: Tx| tx.settle_submission(id, unanswered()))
            .await
            .expect("settled");
    }

    #[test]
    fn no_wait_leaves_anything_behind() {
        let mut runtime = LocalRuntime::virtual_clock(1_000, 1);
        let storage = Rc::new(MemoryStorage::new("incarnation"));
        let session = Session::open(storage, runtime.host(), SessionOptions::default());
        let ended = runtime.run(async move {
            let waits = Waits::new(&session);
            let waiting = || waits.waiting.borrow().values().map(Vec::len).sum::<usize>();
            let ids = session.commit::<_, SessionError, _>(async |tx: Tx| {
                tx.create_root().await?;
                let first = tx
                    .create_submission(ROOT_CONVERSATION_ID, None, None, queued())
                    .await?;
                let second = tx
                    .create_submission(ROOT_CONVERSATION_ID, None, None, queued())
                    .await?;
                Ok([first.id, second.id])
            });
            let [first, second] = ids.await.expect("admitted");

            // Out of time, beside one who goes on waiting.
            let patient = Box::pin(waits.settled(&session, first));
            let timer = session.host().sleep_until(1_500);
            let patient = match select(patient, timer).await {
                Either::Left(_) => panic!("nothing settled"),
                Either::Right(((), patient)) => patient,
            };
            assert_eq!(waiting(), 1);
            for _ in 0..20 {
                let timer = session.host().sleep_until(2_000);
                let hasty = select(Box::pin(waits.settled(&session, first)), timer).await;
                assert!(matches!(hasty, Either::Right(_)));
            }
            assert_eq!(waiting(), 1, "waits that ran out of time");

            settle(&session, first).await;
            let record = patient.await.expect("healthy").expect("known");
            assert!(record.is_settled());
            for _ in 0..20 {
                assert!(waits.settled(&session, first).await.expect("healthy").is_some());
            }
            assert_eq!(waiting(), 0, "waits for what had settled");

            let other = waits.register(SubmissionId(999_999));
            assert!(
                waits
                    .settled(&session, SubmissionId(999_999))
                    .await
                    .expect("healthy")
                    .is_none()
            );
            assert_eq!(waiting(), 1, "an unknown id ends its own wait only");
            drop(other);

            let cut = Box::pin(waits.settled(&session, second));
            let (cut, closed) = futures::join!(cut, session.close());
            assert!(matches!(cut, Err(SessionError::Closed)));
            closed.expect("closed");
            assert!(waits.waiting.borrow().is_empty());
        });
        ended.expect("the test ends");
    }
}
