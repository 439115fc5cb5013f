//! A storage that takes its time, and whose process may die at any call.
//!
//! A commit waits before it reaches the wrapped storage and again before its answer arrives, so that "in storage, and
//! nobody knows" is a state like any other; a read's answer may be old when it arrives.

mod wait;

use crate::random::Random;
use crate::world::World;
use std::cell::Cell;
use tidehold_delta::Text;
use tidehold_session::documents::{DocumentAddress, DocumentRecord, Point};
use tidehold_session::ids::{ConversationId, DocumentId, EntryId, Seq, SubmissionId, TaskId};
use tidehold_session::records::{ConversationRecord, EntryRecord, SubmissionRecord, TaskRecord};
use tidehold_session::storage::*;
use tidehold_storage::forward_reads;

/// How long calls take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weather {
    /// Nothing waits, as in an object.
    Calm,
    /// Some calls give way to others for a few steps.
    Breezy,
    /// The same, and some take milliseconds.
    Stormy,
}

impl Weather {
    pub fn draw(random: &Random) -> Self {
        match random.below(4) {
            0 => Self::Calm,
            1 | 2 => Self::Breezy,
            _ => Self::Stormy,
        }
    }
}

/// Which call is the last of its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoomedCall {
    /// A commit, before it reaches the storage.
    CommitBefore,
    /// A commit that is stored, and whose answer is lost.
    CommitAfter,
    Read,
    Mint,
}

/// The n-th such call from now fails, and every later call of any sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doom {
    pub call: DoomedCall,
    /// Calls of the sort that still succeed.
    pub after: u64,
}

impl Doom {
    pub fn draw(random: &Random) -> Self {
        let (call, within) = match random.below(10) {
            0..4 => (DoomedCall::CommitBefore, 12),
            4..7 => (DoomedCall::CommitAfter, 12),
            7 | 8 => (DoomedCall::Read, 10),
            _ => (DoomedCall::Mint, 4),
        };
        Self {
            call,
            after: random.below(within),
        }
    }
}

/// Text of the failures that are meant.
pub const INJECTED: &str = "injected failure";

/// The wrapper. It belongs to one life: what survives is inside.
pub struct Rough<S> {
    inner: S,
    world: World,
    random: Random,
    weather: Cell<Weather>,
    doom: Cell<Option<Doom>>,
    gone: Cell<bool>,
    in_flight: Cell<usize>,
}

impl<S> Rough<S> {
    pub fn new(inner: S, world: &World, weather: Weather, seed: u64) -> Self {
        Self {
            inner,
            world: world.clone(),
            random: Random::at(seed, 0x5704),
            weather: Cell::new(weather),
            doom: Cell::new(None),
            gone: Cell::new(false),
            in_flight: Cell::new(0),
        }
    }

    pub fn inner(&self) -> &S {
        &self.inner
    }

    pub fn doom(&self, doom: Option<Doom>) {
        self.doom.set(doom);
    }

    pub fn set_weather(&self, weather: Weather) {
        self.weather.set(weather);
    }

    /// Calls that have begun and not ended.
    pub fn in_flight(&self) -> usize {
        self.in_flight.get()
    }

    /// Whether this call fails.
    fn fails(&self, call: DoomedCall) -> bool {
        if self.gone.get() {
            return true;
        }
        let Some(doom) = self.doom.get().filter(|doom| doom.call == call) else {
            return false;
        };
        let dies = doom.after == 0;
        self.gone.set(dies);
        self.doom.set(Some(Doom {
            after: doom.after.saturating_sub(1),
            ..doom
        }));
        dies
    }

    fn check(&self, call: DoomedCall) -> Result<(), StorageError> {
        if self.fails(call) {
            return Err(StorageError::Backend(INJECTED.to_owned()));
        }
        Ok(())
    }
}

impl<S: Storage> Storage for Rough<S> {
    fn commit<'a>(&'a self, writes: &'a [StorageWrite]) -> StorageFuture<'a, Seq> {
        Box::pin(async move {
            let _flight = self.begin();
            self.wait().await;
            self.check(DoomedCall::CommitBefore)?;
            let seq = self.inner.commit(writes).await?;
            self.wait().await;
            self.check(DoomedCall::CommitAfter)?;
            Ok(seq)
        })
    }

    fn mint_id(&self) -> StorageFuture<'_, u64> {
        Box::pin(async move {
            let _flight = self.begin();
            self.wait().await;
            self.check(DoomedCall::Mint)?;
            self.inner.mint_id().await
        })
    }

    forward_reads!(|storage, read| {
        // A name for the macro's sake: all reads are alike.
        let _any: &str = read;
        let _flight = storage.begin();
        storage.wait().await;
        storage.check(DoomedCall::Read)?;
        &storage.inner
    }, then storage.answer().await);

    fn close(&self) -> StorageFuture<'_, ()> {
        self.inner.close()
    }
}
