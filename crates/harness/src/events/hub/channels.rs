//! What the hub keeps of each conversation: who reads it, and its recent batches.
//!
//! A conversation with readers has a channel. Without readers it keeps one for a while, so that a reader who comes back
//! soon misses nothing; how many of those, and how many bytes in all, is bounded, for every commit looks at every channel.

use super::super::derive;
use crate::limits::{MAX_UNDELIVERED_BATCHES, MAX_UNDELIVERED_BYTES};
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::task::Waker;
use tidehold_delta::Json;
use tidehold_session::ids::{ConversationId, Seq};
use tidehold_session::publication::Publication;

/// Conversations whose recent batches are kept although nobody reads them now: reconnects of a few pages at a time.
pub(super) const MAX_IDLE_CHANNELS: usize = 16;

/// Bytes of recent batches of all conversations together: readers share the isolate's 128 MB with every session.
pub(super) const MAX_RECENT_BYTES: usize = 4 * MAX_UNDELIVERED_BYTES;

/// The state of a reader, shared by the reader and its channel.
pub(super) type Shared = Rc<RefCell<ReaderState>>;

/// All channels of a session.
#[derive(Default)]
pub(super) struct Channels {
    channels: HashMap<ConversationId, Channel>,
    /// Those without readers, the one left longest ago first.
    idle: VecDeque<ConversationId>,
}

#[derive(Default)]
struct Channel {
    recent: Queue,
    readers: Vec<Shared>,
}

/// Batches with their size.
#[derive(Default)]
pub(super) struct Queue {
    batches: VecDeque<(Seq, Json, usize)>,
    bytes: usize,
    /// Every batch after this commit is in the queue; `None` before the session's first commit.
    complete_after: Option<Seq>,
}

impl Queue {
    fn push(&mut self, seq: Seq, events: Json, bytes: usize) {
        self.bytes += bytes;
        self.batches.push_back((seq, events, bytes));
    }

    pub fn pop(&mut self) -> Option<(Seq, Json)> {
        let (seq, events, bytes) = self.batches.pop_front()?;
        self.bytes -= bytes;
        Some((seq, events))
    }

    fn overflows(&self) -> bool {
        self.batches.len() > MAX_UNDELIVERED_BATCHES || self.bytes > MAX_UNDELIVERED_BYTES
    }

    pub fn clear(&mut self) {
        self.batches.clear();
        self.bytes = 0;
    }

    fn oldest(&self) -> Option<Seq> {
        self.batches.front().map(|(seq, ..)| *seq)
    }

    fn forget_oldest(&mut self) {
        if let Some((seq, _)) = self.pop() {
            self.complete_after = Some(seq);
        }
    }
}

#[derive(Default)]
pub(super) struct ReaderState {
    pub queue: Queue,
    /// The queue was dropped: the next frame is a snapshot.
    pub behind: bool,
    pub ended: Option<&'static str>,
    pub waker: Option<Waker>,
}

impl ReaderState {
    fn deliver(&mut self, seq: Seq, events: &Json, bytes: usize) {
        if !self.behind {
            self.queue.push(seq, events.clone(), bytes);
            if self.queue.overflows() {
                self.queue.clear();
                self.behind = true;
            }
        }
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl Channels {
    /// A new reader: behind the commit `after` when nothing was missed since, else with a snapshot to come.
    pub fn attach(&mut self, conversation: ConversationId, after: Option<Seq>, head: Option<Seq>) -> Shared {
        self.idle.retain(|idle| *idle != conversation);
        let channel = self.channels.entry(conversation).or_insert_with(|| Channel {
            recent: Queue {
                complete_after: head,
                ..Queue::default()
            },
            readers: Vec::new(),
        });
        let mut state = ReaderState::default();
        match after {
            Some(after) if channel.recent.complete_after.is_some_and(|from| after >= from) => {
                for (seq, events, bytes) in channel.recent.batches.iter().filter(|(seq, ..)| *seq > after) {
                    state.queue.push(*seq, events.clone(), *bytes);
                }
            }
            Some(_) | None => state.behind = true,
        }
        let state = Rc::new(RefCell::new(state));
        channel.readers.push(Rc::clone(&state));
        state
    }

    /// The reader is gone.
    pub fn detach(&mut self, conversation: ConversationId, state: &Shared) {
        let Some(channel) = self.channels.get_mut(&conversation) else {
            return;
        };
        channel.readers.retain(|reader| !Rc::ptr_eq(reader, state));
        if channel.readers.is_empty() {
            self.idle.push_back(conversation);
            self.bound();
        }
    }

    /// Hands a commit to every channel that it touches.
    pub fn published(&mut self, publication: &Publication) {
        for (conversation, channel) in &mut self.channels {
            let events = derive::batch(*conversation, publication);
            if events.is_empty() {
                continue;
            }
            let events = Json::array(events);
            let bytes = events.encoded_len();
            for reader in &channel.readers {
                reader.borrow_mut().deliver(publication.seq, &events, bytes);
            }
            channel.recent.push(publication.seq, events, bytes);
            while channel.recent.overflows() {
                channel.recent.forget_oldest();
            }
        }
        self.bound();
    }

    /// Tells every reader that nothing follows.
    pub fn end(&self, reason: &'static str) {
        for reader in self.channels.values().flat_map(|channel| &channel.readers) {
            let mut state = reader.borrow_mut();
            state.ended.get_or_insert(reason);
            state.wake();
        }
    }

    /// Keeps what nobody reads within its bounds, then what is read: whoever asks for more than is held gets a snapshot.
    fn bound(&mut self) {
        while self.idle.len() > MAX_IDLE_CHANNELS || self.bytes() > MAX_RECENT_BYTES {
            if let Some(idle) = self.idle.pop_front() {
                self.channels.remove(&idle);
                continue;
            }
            let held = self.channels.values_mut();
            let held = held.filter(|channel| channel.recent.oldest().is_some());
            match held.min_by_key(|channel| channel.recent.oldest()) {
                Some(channel) => channel.recent.forget_oldest(),
                None => return,
            }
        }
    }

    fn bytes(&self) -> usize {
        self.channels.values().map(|channel| channel.recent.bytes).sum()
    }
}

#[cfg(test)]
impl Channels {
    /// What is held: channels, readers and bytes.
    pub fn held(&self) -> (usize, usize, usize) {
        let readers = self.channels.values().map(|channel| channel.readers.len()).sum();
        (self.channels.len(), readers, self.bytes())
    }
}
