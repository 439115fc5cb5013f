//! Readers of one session's event streams.
//!
//! A commit pushes its batch into each reader's queue and goes on; a reader that falls behind loses its queue and gets
//! one snapshot instead (spec 9.4). What is kept for whom is in [`channels`].

mod channels;
#[cfg(test)]
mod tests;

use super::snapshot;
use channels::{Channels, Shared};
use futures::future::LocalBoxFuture;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Poll;
use tidehold_delta::Json;
use tidehold_session::ids::{ConversationId, Seq};
use tidehold_session::publication::Publication;
use tidehold_session::{Session, SessionEnd, SessionError, Subscription};

/// One thing a reader receives.
#[derive(Clone, Debug)]
pub enum Frame {
    /// Replaces everything the reader holds.
    Snapshot { seq: Seq, value: Json },
    /// Applies on top; the array of events of one commit.
    Batch { seq: Seq, events: Json },
    /// Nothing follows.
    End { reason: &'static str },
}

/// All event streams of a session.
pub struct EventHub {
    session: Session,
    channels: RefCell<Channels>,
    head: Cell<Option<Seq>>,
    subscriptions: RefCell<Vec<Subscription>>,
}

/// One attached reader. Dropping it detaches.
pub struct EventReader {
    hub: Rc<EventHub>,
    conversation: ConversationId,
    state: Shared,
}

impl Drop for EventReader {
    fn drop(&mut self) {
        self.hub
            .channels
            .borrow_mut()
            .detach(self.conversation, &self.state);
    }
}

impl EventHub {
    /// Starts listening to the session.
    pub fn new(session: &Session) -> Rc<Self> {
        let hub = Rc::new(Self {
            session: session.clone(),
            channels: RefCell::default(),
            head: Cell::default(),
            subscriptions: RefCell::default(),
        });
        let weak = Rc::downgrade(&hub);
        let commits = session.attach(move |publication| {
            if let Some(hub) = weak.upgrade() {
                hub.published(publication);
            }
        });
        let weak = Rc::downgrade(&hub);
        let close = session.subscribe_close(move |end| {
            if let Some(hub) = weak.upgrade() {
                hub.channels.borrow().end(match end {
                    SessionEnd::Closed => "session_closed",
                    SessionEnd::Failed(_) => "session_failed",
                });
            }
        });
        *hub.subscriptions.borrow_mut() = vec![commits, close];
        hub
    }

    /// Attaches a reader. With `after`, it starts behind that commit when nothing was missed since, else with a
    /// snapshot.
    pub async fn attach(
        self: &Rc<Self>,
        conversation: ConversationId,
        after: Option<Seq>,
    ) -> Result<EventReader, SessionError> {
        let stored_head = self.head().await?;
        let hub = Rc::clone(self);
        // On the line: no commit may fall between the look at what is held and the registration.
        self.session
            .on_line(async move || {
                let head = hub.head.get().or(stored_head);
                let state = hub.channels.borrow_mut().attach(conversation, after, head);
                EventReader {
                    hub,
                    conversation,
                    state,
                }
            })
            .await
    }

    /// What a reader would get first that attached now, with its commit. Nobody is attached, and nothing kept.
    pub fn snapshot<'a>(
        self: &'a Rc<Self>,
        conversation: ConversationId,
    ) -> LocalBoxFuture<'a, Result<(Seq, Json), SessionError>> {
        Box::pin(self.read(conversation, None))
    }

    /// `joining` has received everything up to the snapshot.
    #[inline(never)]
    fn read(
        self: &Rc<Self>,
        conversation: ConversationId,
        joining: Option<Shared>,
    ) -> LocalBoxFuture<'static, Result<(Seq, Json), SessionError>> {
        let hub = Rc::clone(self);
        Box::pin(async move {
            let stored_head = hub.head().await?;
            let session = hub.session.clone();
            let read = async move || {
                let value = snapshot::read(&hub.session, conversation).await?;
                if let Some(joining) = joining {
                    let mut state = joining.borrow_mut();
                    state.behind = false;
                    state.queue.clear();
                }
                let head = hub.head.get().or(stored_head);
                Ok((head.unwrap_or(Seq(0)), value))
            };
            session.on_line(read).await?
        })
    }

    /// The newest commit known here.
    pub async fn head(&self) -> Result<Option<Seq>, SessionError> {
        match self.head.get() {
            Some(seq) => Ok(Some(seq)),
            None => self.session.head().await,
        }
    }

    fn published(&self, publication: &Rc<Publication>) {
        self.head.set(Some(publication.seq));
        self.channels.borrow_mut().published(publication);
    }
}

enum Ready {
    Frame(Frame),
    Behind,
}

impl EventReader {
    /// The next frame; waits for one. After [`Frame::End`] there is nothing more.
    pub async fn next(&mut self) -> Frame {
        let ready = futures::future::poll_fn(|context| {
            let mut state = self.state.borrow_mut();
            if state.behind && state.ended.is_none() {
                return Poll::Ready(Ready::Behind);
            }
            if let Some((seq, events)) = state.queue.pop() {
                return Poll::Ready(Ready::Frame(Frame::Batch { seq, events }));
            }
            if let Some(reason) = state.ended {
                return Poll::Ready(Ready::Frame(Frame::End { reason }));
            }
            state.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
        match ready {
            Ready::Frame(frame) => frame,
            Ready::Behind => match self
                .hub
                .read(self.conversation, Some(Rc::clone(&self.state)))
                .await
            {
                Ok((seq, value)) => Frame::Snapshot { seq, value },
                Err(error) => Frame::End {
                    reason: end_reason(&error),
                },
            },
        }
    }
}

fn end_reason(error: &SessionError) -> &'static str {
    match error {
        SessionError::Closed => "session_closed",
        _ => "session_failed",
    }
}
