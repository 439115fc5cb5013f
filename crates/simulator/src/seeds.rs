//! Telling many seeds, and one of them in words.

mod replay;

use crate::tally::Tally;
use crate::trace::Trace;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use tidehold_session::panics::panic_text;

/// A set of stories, one for each seed.
#[derive(Clone, Copy, Debug)]
pub struct Campaign {
    pub package: &'static str,
    /// What selects the test: arguments for `cargo test -p PACKAGE`.
    pub test: &'static str,
    /// Environment variable that says how many seeds to tell.
    pub count_variable: &'static str,
    /// How many without it.
    pub seeds: u64,
    /// Events of a story; a shorter one is a beginning of it, with the same end.
    pub events: usize,
}

/// One story to tell.
#[derive(Debug)]
pub struct Telling {
    pub seed: u64,
    pub events: usize,
    pub trace: Trace,
}

/// How a story went.
#[derive(Debug, Default)]
pub struct Told {
    pub tally: Tally,
    /// Rules that were broken. The first one is the cause.
    pub breaches: Vec<String>,
}

/// Tells a story. Must depend on nothing but its argument.
pub type Tell<'a> = &'a (dyn Fn(&Telling) -> Told + Sync);

impl Campaign {
    /// Tells every seed, on all cores; answers what they contained.
    ///
    /// # Panics
    /// When a story breaks a rule: with the seed, the breach, a command that replays it, and the shortest beginning that
    /// breaks a rule, in words. `TIDEHOLD_SEED` and `TIDEHOLD_EVENTS` choose one story and print it.
    pub fn run(&self, tell: Tell<'_>) -> Tally {
        if let Some(tally) = self.replay_asked_for(tell) {
            return tally;
        }
        let seeds = number_from(self.count_variable).unwrap_or(self.seeds);
        match self.tell_all(seeds, tell) {
            Ok(tally) => {
                tally.add("seeds", seeds);
                // Not through the macro, whose text the test harness keeps to itself when all is well.
                let _nobody_reads = writeln!(std::io::stdout(), "{}: {tally}", self.package);
                tally
            }
            Err(seed) => self.explain(seed, tell),
        }
    }

    /// The first of so many seeds that breaks a rule.
    pub fn first_breach(&self, seeds: u64, tell: Tell<'_>) -> Option<(u64, String)> {
        (0..seeds).find_map(|seed| {
            let told = self.tell(seed, self.events, Trace::off(), tell);
            told.breaches.into_iter().next().map(|breach| (seed, breach))
        })
    }

    /// A panic is a breach like any other.
    fn tell(&self, seed: u64, events: usize, trace: Trace, tell: Tell<'_>) -> Told {
        let telling = Telling { seed, events, trace };
        catch_unwind(AssertUnwindSafe(|| tell(&telling))).unwrap_or_else(|panic| Told {
            tally: Tally::default(),
            breaches: vec![format!("a panic: {}", panic_text(panic.as_ref()))],
        })
    }

    #[allow(
        clippy::disallowed_methods,
        reason = "worlds share nothing: each thread tells its own seeds"
    )]
    fn tell_all(&self, seeds: u64, tell: Tell<'_>) -> Result<Tally, u64> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let (next, worst) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
        let total = Mutex::new(Tally::default());
        let work = || {
            let tally = Tally::default();
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                // Seeds before the earliest failure are still told: which one is reported does not depend on threads.
                if seed >= seeds.min(worst.load(Ordering::Relaxed)) {
                    break;
                }
                let told = self.tell(seed, self.events, Trace::off(), tell);
                if !told.breaches.is_empty() {
                    worst.fetch_min(seed, Ordering::Relaxed);
                }
                tally.merge(&told.tally);
            }
            if let Ok(total) = total.lock() {
                total.merge(&tally);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
        match worst.into_inner() {
            u64::MAX => Ok(total.into_inner().unwrap_or_default()),
            seed => Err(seed),
        }
    }
}

fn number_from(variable: &str) -> Option<u64> {
    let value = std::env::var(variable).ok()?;
    match value.parse() {
        Ok(number) => Some(number),
        Err(error) => replay::refuse(variable, &value, &error),
    }
}
