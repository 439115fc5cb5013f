//! Readers of one session's event streams.
//!
//! A commit pushes its batch into each reader's queue and goes on; a reader that falls behind loses its queue and gets
//! one snapshot instead (spec 9.4). A conversation that was observed keeps its recent batches, so that a reader who
//! comes back soon misses nothing and repeats nothing.

use super::{derive, snapshot};
use crate::limits::{MAX_UNDELIVERED_BATCHES, MAX_UNDELIVERED_BYTES};
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::{Rc, Weak};
use std::task::{Poll, Waker};
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
    channels: RefCell<HashMap<ConversationId, Channel>>,
    head: RefCell<Option<Seq>>,
    subscriptions: RefCell<Vec<Subscription>>,
}

#[derive(Default)]
struct Channel {
    recent: Queue,
    readers: Vec<Weak<RefCell<ReaderState>>>,
}

/// Recent batches with their size.
#[derive(Default)]
struct Queue {
    batches: VecDeque<(Seq, Json, usize)>,
    bytes: usize,
    /// Every batch after this commit is in the queue.
    complete_after: Seq0,
}

/// Sequence number zero until the channel exists.
type Seq0 = Option<Seq>;

impl Queue {
    fn push(&mut self, seq: Seq, events: Json, bytes: usize) {
        self.bytes += bytes;
        self.batches.push_back((seq, events, bytes));
    }

    fn overflows(&self) -> bool {
        self.batches.len() > MAX_UNDELIVERED_BATCHES || self.bytes > MAX_UNDELIVERED_BYTES
    }

    fn clear(&mut self) {
        self.batches.clear();
        self.bytes = 0;
    }

    fn trim(&mut self) {
        while self.overflows() {
            let Some((seq, _, bytes)) = self.batches.pop_front() else {
                return;
            };
            self.bytes -= bytes;
            self.complete_after = Some(seq);
        }
    }
}

#[derive(Default)]
struct ReaderState {
    queue: Queue,
    /// The queue was dropped: the next frame is a snapshot.
    behind: bool,
    ended: Option<&'static str>,
    waker: Option<Waker>,
}

impl ReaderState {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// One attached reader. Dropping it detaches.
pub struct EventReader {
    hub: Rc<EventHub>,
    conversation: ConversationId,
    state: Rc<RefCell<ReaderState>>,
}

impl EventHub {
    /// Starts listening to the session.
    pub fn new(session: &Session) -> Rc<Self> {
        let hub = Rc::new(Self {
            session: session.clone(),
            channels: RefCell::default(),
            head: RefCell::default(),
            subscriptions: RefCell::default(),
        });
        let weak = Rc::downgrade(&hub);
        let commits = session.subscribe_commits(move |publication| {
            if let Some(hub) = weak.upgrade() {
                hub.published(publication);
            }
        });
        let weak = Rc::downgrade(&hub);
        let close = session.subscribe_close(move |end| {
            if let Some(hub) = weak.upgrade() {
                hub.end(match end {
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
        let head = self.head().await?;
        let hub = Rc::clone(self);
        // On the line: no commit may fall between the look at what is held and the registration.
        self.session
            .on_line(async move || hub.register(conversation, after, head))
            .await
    }

    fn register(
        self: &Rc<Self>,
        conversation: ConversationId,
        after: Option<Seq>,
        stored_head: Option<Seq>,
    ) -> EventReader {
        let head = self.head.borrow().or(stored_head);
        let mut channels = self.channels.borrow_mut();
        let channel = channels.entry(conversation).or_insert_with(|| Channel {
            recent: Queue {
                complete_after: head,
                ..Queue::default()
            },
            readers: Vec::new(),
        });
        let mut state = ReaderState::default();
        match after {
            Some(after) if channel.recent.complete_after.is_some_and(|from| after >= from) => {
                for (seq, events, bytes) in channel.recent.batches.iter().filter(|(seq, _, _)| *seq > after) {
                    state.queue.push(*seq, events.clone(), *bytes);
                }
            }
            Some(_) | None => state.behind = true,
        }
        let state = Rc::new(RefCell::new(state));
        channel.readers.push(Rc::downgrade(&state));
        EventReader {
            hub: Rc::clone(self),
            conversation,
            state,
        }
    }

    /// The newest commit known here.
    pub async fn head(&self) -> Result<Option<Seq>, SessionError> {
        let known = *self.head.borrow();
        match known {
            Some(seq) => Ok(Some(seq)),
            None => self.session.head().await,
        }
    }

    /// Ends every stream, for deletion and close.
    pub fn end(&self, reason: &'static str) {
        for channel in self.channels.borrow_mut().values_mut() {
            for reader in channel.readers.iter().filter_map(Weak::upgrade) {
                let mut state = reader.borrow_mut();
                state.ended.get_or_insert(reason);
                state.wake();
            }
        }
    }

    fn published(&self, publication: &Rc<Publication>) {
        *self.head.borrow_mut() = Some(publication.seq);
        for (conversation, channel) in self.channels.borrow_mut().iter_mut() {
            let events = derive::batch(*conversation, publication);
            if events.is_empty() {
                continue;
            }
            let events = Json::array(events);
            let bytes = events.encoded_len();
            channel.recent.push(publication.seq, events.clone(), bytes);
            channel.recent.trim();
            channel.readers.retain(|reader| {
                let Some(reader) = reader.upgrade() else {
                    return false;
                };
                deliver(&mut reader.borrow_mut(), publication.seq, &events, bytes);
                true
            });
        }
    }
}

fn deliver(state: &mut ReaderState, seq: Seq, events: &Json, bytes: usize) {
    if !state.behind {
        state.queue.push(seq, events.clone(), bytes);
        if state.queue.overflows() {
            state.queue.clear();
            state.behind = true;
        }
    }
    state.wake();
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
            if let Some((seq, events, bytes)) = state.queue.batches.pop_front() {
                state.queue.bytes -= bytes;
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
            Ready::Behind => self.snapshot().await,
        }
    }

    async fn snapshot(&self) -> Frame {
        let hub = Rc::clone(&self.hub);
        let conversation = self.conversation;
        let state = Rc::clone(&self.state);
        let stored_head = hub.head().await;
        let taken = self
            .hub
            .session
            .on_line(async move || {
                let value = snapshot::read(&hub.session, conversation).await?;
                let mut state = state.borrow_mut();
                state.behind = false;
                state.queue.clear();
                let head = *hub.head.borrow();
                let seq = match head {
                    Some(seq) => Some(seq),
                    None => stored_head?,
                };
                Ok::<_, SessionError>(Frame::Snapshot {
                    seq: seq.unwrap_or(Seq(0)),
                    value,
                })
            })
            .await;
        match taken {
            Ok(Ok(frame)) => frame,
            Ok(Err(error)) | Err(error) => Frame::End {
                reason: end_reason(&error),
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
