//! One case: a scenario, struck at one call.

use super::super::check::{CaseResult, Failure};
use super::super::dump::{difference, dump};
use super::super::random::Random;
use super::scenario::{Scenario, Step, translate};
use super::{Blow, CrashSite, Done, Pending, Then};
use std::rc::Rc;
use tidehold_session::ids::Seq;
use tidehold_session::storage::{Storage, StorageError};

/// Attempts to open after a crash that are struck themselves.
const STRUCK_RECOVERIES: u64 = 3;

/// Plays the scenario without a failure, and returns how many crash points it has.
///
/// # Errors
/// What differs from the same commits in memory.
pub async fn rehearse(site: &dyn CrashSite, scenario: &Scenario) -> CaseResult<u64> {
    play(site, scenario, seed_of(scenario, None), None).await
}

/// Plays the scenario and strikes the call number `point`; goes on after the recovery, to the end.
///
/// # Errors
/// What differs from the same commits in memory.
pub async fn run(site: &dyn CrashSite, scenario: &Scenario, point: u64) -> CaseResult {
    let seed = seed_of(scenario, Some(point));
    let blow = any_blow(&mut Random::new(seed), point);
    play(site, scenario, seed, Some(blow)).await.map(drop)
}

/// Plays the scenario and strikes with this blow.
///
/// # Errors
/// What differs from the same commits in memory.
pub async fn run_with(site: &dyn CrashSite, scenario: &Scenario, blow: Blow) -> CaseResult {
    let seed = seed_of(scenario, Some(blow.after));
    play(site, scenario, seed, Some(blow)).await.map(drop)
}

fn seed_of(scenario: &Scenario, point: Option<u64>) -> u64 {
    scenario.seed ^ point.unwrap_or(u64::MAX).rotate_left(32)
}

fn any_blow(random: &mut Random, after: u64) -> Blow {
    let done = match random.below(4) {
        0 => Done::Nothing,
        1 => Done::Everything,
        _ => Done::Part(random.below(200) as usize),
    };
    let then = random.pick(&[Then::Dies, Then::Dies, Then::Fails]);
    Blow { after, done, then }
}

async fn play(site: &dyn CrashSite, scenario: &Scenario, seed: u64, blow: Option<Blow>) -> CaseResult<u64> {
    site.wipe(seed);
    let mut play = Play {
        site,
        scenario,
        random: Random::new(seed),
        storage: None,
        moments: Vec::new(),
        step: 0,
        minted: 1,
        minted_later: 1,
        struck: false,
    };
    site.arm(blow);
    play.go_on().await?;
    let calls = site.calls();
    let struck = play.struck || site.has_struck();
    holds!(blow.is_none() || struck, "{blow:?} never struck");
    // Once more from what is stored. A site that may lose acknowledged commits sends the play back; once closed it may not.
    loop {
        let commits = play.restart(play.moments.len(), Pending::None)?;
        play.open_after(commits).await?;
        if play.step == scenario.steps.len() {
            return Ok(calls);
        }
        play.go_on().await?;
        if let Some(storage) = &play.storage {
            storage.close().await?;
        }
    }
}

/// Why a step did not succeed.
enum Stopped {
    /// An error while a commit was under way or not.
    Struck(StorageError, Pending),
    Wrong(Failure),
}

struct Play<'a> {
    site: &'a dyn CrashSite,
    scenario: &'a Scenario,
    random: Random,
    storage: Option<Rc<dyn Storage>>,
    /// For each commit its number, or one between it and the next.
    moments: Vec<Seq>,
    step: usize,
    /// The largest id that was handed out.
    minted: u64,
    /// The largest of those handed out after the first commit.
    minted_later: u64,
    struck: bool,
}

impl Play<'_> {
    /// Takes the steps that are left.
    async fn go_on(&mut self) -> CaseResult {
        while let Some(step) = self.scenario.steps.get(self.step) {
            if let Err(stopped) = self.take(step).await {
                self.recover(stopped).await?;
            }
        }
        Ok(())
    }

    async fn take(&mut self, step: &Step) -> Result<(), Stopped> {
        let storage = match &self.storage {
            Some(storage) => storage.clone(),
            None => self.open()?,
        };
        match step {
            Step::Reopen => {
                drop(storage);
                self.storage = None;
                self.open()?;
            }
            Step::Mint(count) => {
                for _ in 0..*count {
                    let id = storage
                        .mint_id()
                        .await
                        .map_err(|error| Stopped::Struck(error, Pending::None))?;
                    self.check_mint(id).map_err(Stopped::Wrong)?;
                }
            }
            Step::Refused(writes) => {
                let answer = storage.commit(&translate(writes, &self.moments)).await;
                match answer {
                    Err(StorageError::Batch(_)) => {}
                    Err(error) => return Err(Stopped::Struck(error, Pending::None)),
                    Ok(_) => return Err(wrong(format!("accepted {writes:?}"))),
                }
            }
            Step::Commit(writes) => {
                self.site.under_way(Pending::Commit);
                let answer = storage.commit(&translate(writes, &self.moments)).await;
                self.site.under_way(Pending::None);
                match answer {
                    Ok(seq) => self.moments.push(seq),
                    Err(StorageError::Batch(reason)) => return Err(wrong(format!("refused: {reason}"))),
                    Err(error) => return Err(Stopped::Struck(error, Pending::Commit)),
                }
            }
        }
        self.step += 1;
        Ok(())
    }

    fn open(&mut self) -> Result<Rc<dyn Storage>, Stopped> {
        let storage = self
            .site
            .open()
            .map_err(|error| Stopped::Struck(error, Pending::None))?;
        self.storage = Some(storage.clone());
        Ok(storage)
    }

    fn check_mint(&mut self, id: u64) -> CaseResult {
        let stored = self
            .scenario
            .states
            .get(self.moments.len())
            .map_or(0, |state| state.highest);
        holds!(id > self.minted, "minted {id} after {}", self.minted);
        holds!(id > stored, "minted {id} where {stored} is stored");
        self.minted = id;
        if !self.moments.is_empty() {
            self.minted_later = id;
        }
        Ok(())
    }

    /// Ends the process, and tells how many commits are stored.
    fn restart(&mut self, acknowledged: usize, pending: Pending) -> CaseResult<usize> {
        self.storage = None;
        let found = self.site.restart();
        let allowed = self.site.guaranteed(acknowledged)..=acknowledged + pending.most();
        holds!(
            allowed.contains(&found),
            "{found} commits are stored where {acknowledged} were acknowledged"
        );
        Ok(found)
    }

    /// After a failure: the process ends, opening is struck a few times, and then everything is as after some commits.
    async fn recover(&mut self, stopped: Stopped) -> CaseResult {
        let (error, pending) = match stopped {
            Stopped::Wrong(failure) => return Err(failure),
            Stopped::Struck(error, pending) => (error, pending),
        };
        holds!(self.site.has_struck(), "failed without a failure below: {error}");
        self.struck = true;
        let mut commits = self.restart(self.moments.len(), pending)?;
        for _ in 0..self.random.below(STRUCK_RECOVERIES + 1) {
            let after = self.random.below(12);
            self.site.arm(Some(any_blow(&mut self.random, after)));
            // Whether it got that far or not, the process ends again.
            drop(self.site.open());
            commits = self.restart(commits, Pending::None)?;
        }
        self.open_after(commits).await
    }

    /// Opens, and goes on after so many commits.
    async fn open_after(&mut self, commits: usize) -> CaseResult {
        let storage = match self.site.open() {
            Ok(storage) => storage,
            Err(error) => return Err(Failure(format!("does not open after the crash: {error}"))),
        };
        self.moments.truncate(commits);
        if self.moments.len() < commits {
            self.moments.extend(storage.head().await?);
        }
        let Some(state) = self.scenario.states.get(commits) else {
            return Err(Failure(format!("{commits} commits are stored")));
        };
        if let Some(difference) = difference(&dump(&*storage, &self.moments).await?, &state.dump) {
            return Err(Failure(format!("after {commits} commits: {difference}")));
        }
        if commits == 0 {
            // Nothing is stored, so this is another session; but an id handed out after a commit keeps that commit.
            self.minted = self.minted_later;
        }
        self.step = state.next_step;
        self.storage = Some(storage);
        Ok(())
    }
}

fn wrong(text: String) -> Stopped {
    Stopped::Wrong(Failure(text))
}
