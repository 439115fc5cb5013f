//! One effect, between the commit of its intent and what follows from it (spec 5.2).

use super::{Actor, Fate, Own, Point};
use crate::{JoinPolicy, Next, Runtime, TaskFault};
use std::rc::Rc;
use tidehold_session::host::Millis;
use tidehold_session::ids::TaskId;
use tidehold_simulator::Random;

/// Effects of one task.
const EFFECTS: u64 = 4;

impl<const V: u32> Actor<V> {
    pub(super) async fn effect(
        &self,
        fate: &Fate,
        n: u64,
        own: Own,
        runtime: &Runtime<Self>,
    ) -> Result<(), TaskFault> {
        let (id, random) = (runtime.task_id(), Random::at(fate.seed, n));
        // Another candidate each time: the first one must win.
        let mut candidate = [0_u8; 4];
        runtime.session().host().entropy(&mut candidate);
        let candidate = u64::from(u32::from_le_bytes(candidate));
        let name = format!("key-{n}");
        let key = runtime.memo(&name, &candidate).await?;
        self.0.memo(id, &name, key);
        self.0.effect(id, n);
        self.take_time(&random, runtime).await?;
        if fate.plain || n >= EFFECTS {
            return self.advance(runtime, Point::End { own }).await;
        }
        self.with_children(&random, &own, runtime).await?;
        self.go_on(&random, n, own, runtime).await
    }

    async fn take_time(&self, random: &Random, runtime: &Runtime<Self>) -> Result<(), TaskFault> {
        let until = runtime.now() + random.below(300);
        match random.below(10) {
            0..3 => Ok(()),
            // Code that ignores its signal.
            3 => {
                runtime.session().host().sleep_until(until).await;
                Ok(())
            }
            // Something left behind: whatever it does after the invocation is refused.
            4 => {
                let (left, model, wait) = (runtime.clone(), Rc::clone(&self.0), until + random.below(3_000));
                let host = Rc::clone(runtime.session().host());
                let since = model.reserved(left.task_id());
                runtime.session().spawn(async move {
                    host.sleep_until(wait).await;
                    let checked = Rc::clone(&model);
                    let outcome = left
                        .commit(async move |_, record| {
                            checked.gated(&record);
                            Ok(None)
                        })
                        .await;
                    model.left_behind(left.task_id(), since, outcome.is_ok());
                });
                Ok(())
            }
            _ => runtime.sleep(until).await,
        }
    }

    /// In memory alone.
    async fn with_children(
        &self,
        random: &Random,
        own: &Own,
        runtime: &Runtime<Self>,
    ) -> Result<(), TaskFault> {
        let Some(child) = random.pick(&own.children).copied() else {
            return Ok(());
        };
        match random.below(10) {
            0 => {
                let settled = runtime.wait_for_task(child).await?;
                self.0.receipt(child, &settled.record);
            }
            1 => {
                self.0.asks_to_abort(child);
                runtime.abort_owned(child).await?;
                self.0.must_have_ended(child);
            }
            2 => {
                let owned = runtime.owned_tasks().await?;
                self.0.owned(runtime.task_id(), &owned);
            }
            _ => {}
        }
        Ok(())
    }

    async fn go_on(
        &self,
        random: &Random,
        n: u64,
        own: Own,
        runtime: &Runtime<Self>,
    ) -> Result<(), TaskFault> {
        let now = runtime.now();
        match random.below(20) {
            0..4 => self.advance(runtime, Point::Effect { n: n + 1, own }).await,
            4..7 => {
                let at = now + random.below(40_000);
                self.advance(runtime, Point::Poll { n, at, own }).await
            }
            7 | 8 => self.advance(runtime, Point::External { n, own }).await,
            9 | 10 => {
                self.sleep_durably(now + random.below(20_000), n, own, runtime)
                    .await
            }
            11..16 if !own.children.is_empty() => {
                let policy = if random.percent(60) {
                    JoinPolicy::FailFast
                } else {
                    JoinPolicy::AllSettled
                };
                let until = random.percent(20).then(|| now + random.below(20_000));
                let on = own.children.clone();
                self.wait(runtime, (n, own), on, policy, until).await
            }
            16 | 17 => {
                let on = self.strangers(random);
                self.wait(runtime, (n, own), on, JoinPolicy::AllSettled, None)
                    .await
            }
            _ => self.advance(runtime, Point::End { own }).await,
        }
    }

    /// Tasks of anyone, ended ones too.
    fn strangers(&self, random: &Random) -> Vec<TaskId> {
        let known = self.0.known();
        let mut on: Vec<TaskId> = (0..=random.below(2))
            .filter_map(|_| random.pick(&known).copied())
            .collect();
        on.sort();
        on.dedup();
        on
    }

    async fn sleep_durably(
        &self,
        until: Millis,
        n: u64,
        own: Own,
        runtime: &Runtime<Self>,
    ) -> Result<(), TaskFault> {
        let sleep = Next::Wait {
            checkpoint: Point::Slept { n, own },
            on: Vec::new(),
            policy: JoinPolicy::AllSettled,
            until: Some(until),
        };
        self.commit(runtime, Some(sleep)).await
    }
}
