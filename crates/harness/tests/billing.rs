//! What a plain turn costs in billed rows, as the SQL driver counts them, alarm settings included.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use std::cell::Cell;
use std::rc::Rc;
use support::{echo, harness_over, input};
use tidehold_harness::Settings;
use tidehold_session::host::Millis;
use tidehold_session::host_local::LocalRuntime;
use tidehold_session::ids::ROOT_CONVERSATION_ID;
use tidehold_session::storage::Storage;
use tidehold_storage::sql::native::NativeDriver;
use tidehold_storage::sql::{SqlDriver, SqlStorage};
use tidehold_tasks::Alarm;

/// The bar of a plain turn: submit, answer, no partials.
const PLAIN_TURN_ROWS: u64 = 35;

/// Every change of the alarm is a billed row.
#[derive(Default)]
struct BilledAlarm {
    at: Cell<Option<Millis>>,
    rows: Cell<u64>,
}

impl Alarm for BilledAlarm {
    fn arm(&self, at: Option<Millis>) {
        if self.at.replace(at) != at {
            self.rows.set(self.rows.get() + 1);
        }
    }
}

#[test]
fn a_plain_turn_stays_within_its_rows() {
    let mut runtime = LocalRuntime::virtual_clock(1_000_000, 3);
    let storage =
        Rc::new(SqlStorage::open(NativeDriver::in_memory().unwrap(), "incarnation".to_owned()).unwrap());
    let alarm = Rc::new(BilledAlarm::default());
    let shared: Rc<dyn Storage> = Rc::clone(&storage) as _;
    let harness = harness_over(
        &mut runtime,
        shared,
        Rc::clone(&alarm) as _,
        &Settings::default(),
        echo(),
    );
    let rows = || storage.driver().rows_written() + alarm.rows.get();
    let mut costs = Vec::new();
    for turn in 0..3 {
        let before = rows();
        let harness = harness.clone();
        let settled = runtime.run(async move {
            let record = harness
                .submit(ROOT_CONVERSATION_ID, input(&format!("turn {turn}")))
                .await
                .unwrap();
            harness
                .wait_for_submission(record.id, None)
                .await
                .unwrap()
                .unwrap()
        });
        assert!(settled.unwrap().is_settled());
        runtime.settle();
        costs.push(rows() - before);
    }
    println!(
        "billed rows: first turn with its schema and conversation {}, then {:?}",
        costs[0],
        &costs[1..]
    );
    assert!(
        costs[1..].iter().all(|cost| *cost <= PLAIN_TURN_ROWS),
        "{costs:?}"
    );
    assert_eq!(alarm.at.get(), None);
}
