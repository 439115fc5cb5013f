//! Whole sessions over SQLite: commits beside parked tasks, reservations after finished ones, and opening.

use crate::{Figure, interleaved};
use serde::Serialize;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;
use tidehold_delta::FromJson;
use tidehold_session::host_local::LocalRuntime;
use tidehold_session::ids::{ROOT_CONVERSATION_ID, TaskId};
use tidehold_session::publication::Publication;
use tidehold_session::records::TaskState;
use tidehold_session::{Session, SessionError, SessionOptions, Subscription, Tx};
use tidehold_storage::sql::SqlStorage;
use tidehold_storage::sql::native::{Durability, NativeDriver};
use tidehold_tasks::{
    JoinPolicy, Next, Outcome, Running, Runtime, Scheduler, SchedulerOptions, Task, TaskFault, TaskOptions,
    TaskRegistry, Wake, create,
};

const NOW: u64 = 1_000_000;
const LATER: u64 = 2_000_000_000;

/// Tasks that come and go in one measurement.
const ROUNDS: usize = 200;

struct Job;

/// What a job does.
#[derive(Clone, Copy, Serialize, FromJson)]
enum Input {
    /// Ends at once.
    Quick,
    /// Waits for two children: one parked for the outside, one until a time.
    Owner,
    External,
    Deadline,
}

#[derive(Serialize, FromJson)]
#[serde(tag = "phase", rename_all = "camelCase")]
enum Point {
    Quick,
    Owner,
    Joined,
    External,
    Deadline,
}

impl Task for Job {
    const NAME: &'static str = "job";
    const VERSION: u32 = 1;
    type Input = Input;
    type Checkpoint = Point;
    type Outcome = ();

    fn initial(&self, input: &Input) -> Point {
        match input {
            Input::Quick => Point::Quick,
            Input::Owner => Point::Owner,
            Input::External => Point::External,
            Input::Deadline => Point::Deadline,
        }
    }

    fn wake(&self, checkpoint: &Point) -> Wake {
        match checkpoint {
            Point::External => Wake::External,
            Point::Deadline => Wake::At(LATER),
            Point::Quick | Point::Owner | Point::Joined => Wake::Now,
        }
    }

    async fn run(&self, task: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        match task.checkpoint {
            Point::Owner => {
                let owner = runtime.task_id();
                runtime
                    .commit(async move |tx, _| {
                        let options = TaskOptions::owned_by(owner);
                        let on = vec![
                            create(&tx, &Job, &Input::External, options).await?,
                            create(&tx, &Job, &Input::Deadline, options).await?,
                        ];
                        Ok(Some(Next::join(Point::Joined, JoinPolicy::AllSettled, on)))
                    })
                    .await
            }
            Point::External | Point::Deadline => runtime.poked().await,
            Point::Quick | Point::Joined => runtime.finish(Outcome::Completed(())).await,
        }
    }

    async fn abort(&self, _: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        runtime.finish(Outcome::aborted()).await
    }
}

/// An open session over a file.
struct Side {
    runtime: LocalRuntime,
    session: Session,
    scheduler: Scheduler,
    clock: Rc<Clock>,
    _subscription: Subscription,
}

/// When the last task was created and how long reservations took since.
#[derive(Default)]
struct Clock {
    created: Cell<Option<Instant>>,
    reserving: Cell<f64>,
}

impl Side {
    fn open(path: &Path) -> Self {
        let mut runtime = LocalRuntime::virtual_clock(NOW, 1);
        let driver = NativeDriver::file(path, Durability::ProcessCrash).expect("the file opens");
        let storage = Rc::new(SqlStorage::open(driver, "bench").expect("the storage opens"));
        let session = Session::open(storage, runtime.host(), SessionOptions::default());
        let registry = TaskRegistry::new();
        registry.install(Rc::new(Job));
        let opening = session.clone();
        // Parked work stays parked: nothing sleeps in memory.
        let options = SchedulerOptions {
            timer_horizon_ms: 0,
            ..SchedulerOptions::default()
        };
        let scheduler = runtime.run(async move { Scheduler::open(&opening, registry, options).await });
        let scheduler = scheduler.expect("open settles").expect("open succeeds");
        let clock = Rc::new(Clock::default());
        let told = Rc::clone(&clock);
        let subscription = session.subscribe_commits(move |publication| told.note(publication));
        scheduler.resume();
        Self {
            runtime,
            session,
            scheduler,
            clock,
            _subscription: subscription,
        }
    }

    fn create(&mut self, input: Input, count: usize) -> Vec<TaskId> {
        let session = self.session.clone();
        let created = self.runtime.run(async move {
            let creating = session.commit(async move |tx: Tx| {
                if tx.conversation(ROOT_CONVERSATION_ID).await?.is_none() {
                    tx.create_root().await?;
                }
                let mut ids = Vec::new();
                for _ in 0..count {
                    let options = TaskOptions::in_conversation(ROOT_CONVERSATION_ID);
                    ids.push(create(&tx, &Job, &input, options).await?.id());
                }
                Ok::<_, SessionError>(ids)
            });
            creating.await
        });
        created.expect("the commit settles").expect("it succeeds")
    }

    /// Tasks come and go one by one; microseconds of each from its creation on.
    fn cycle(&mut self) -> f64 {
        let begun = Instant::now();
        for _ in 0..ROUNDS {
            self.create(Input::Quick, 1);
            self.runtime.settle();
        }
        begun.elapsed().as_secs_f64() * 1e6 / ROUNDS as f64
    }

    /// The same; microseconds of each reservation, from the commit that creates the task to the one that starts it.
    fn reserve(&mut self) -> f64 {
        self.clock.reserving.set(0.0);
        self.cycle();
        self.clock.reserving.get() * 1e6 / ROUNDS as f64
    }
}

impl Clock {
    fn note(&self, publication: &Publication) {
        for change in &publication.tasks {
            if change.before.is_none() {
                self.created.set(Some(Instant::now()));
            } else if let TaskState::Running { .. } = change.after.state
                && let Some(created) = self.created.take()
            {
                let reserving = self.reserving.get() + created.elapsed().as_secs_f64();
                self.reserving.set(reserving);
            }
        }
    }
}

/// A folder of its own, gone at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let shared = Path::new("/dev/shm");
        let parent = if shared.is_dir() {
            shared.to_path_buf()
        } else {
            std::env::temp_dir()
        };
        let path = parent.join(format!("tidehold-scheduling-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the folder is made");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _left = std::fs::remove_dir_all(&self.0);
    }
}

fn finished(folder: &Folder, count: usize) -> PathBuf {
    let path = folder.0.join(format!("finished-{count}"));
    let mut side = Side::open(&path);
    let mut left = count;
    while left > 0 {
        let part = left.min(1_000);
        side.create(Input::Quick, part);
        side.runtime.settle();
        left -= part;
    }
    assert_eq!(side.scheduler.inspect().len(), 0);
    path
}

fn parked(folder: &Folder, count: usize) -> PathBuf {
    let path = folder.0.join(format!("parked-{count}"));
    let mut side = Side::open(&path);
    // An owner, its two children, and two more.
    side.create(Input::Owner, count / 5);
    side.create(Input::External, count / 5);
    side.create(Input::Deadline, count / 5);
    side.runtime.settle();
    assert_eq!(side.scheduler.inspect().len(), count);
    path
}

fn opening(paths: &[PathBuf; 2], what: &'static str, sizes: [usize; 2], bar: Option<f64>) -> Figure {
    interleaved(what, sizes, bar, |side| {
        let begun = Instant::now();
        let opened = Side::open(&paths[side]);
        let took = begun.elapsed().as_secs_f64() * 1e6;
        drop(opened);
        took
    })
}

pub fn measure() -> Vec<Figure> {
    let folder = Folder::new();
    let mut figures = Vec::new();
    let sizes = [50, 50_000];
    let paths = sizes.map(|size| finished(&folder, size));
    figures.push(opening(&paths, "open after N finished tasks", sizes, None));
    let mut sides = [Side::open(&paths[0]), Side::open(&paths[1])];
    figures.push(interleaved(
        "reservation after N finished tasks",
        sizes,
        Some(1.2),
        |side| sides[side].reserve(),
    ));
    let sizes = [100, 10_000];
    let paths = sizes.map(|size| parked(&folder, size));
    figures.push(opening(&paths, "open with N parked tasks", sizes, None));
    let mut sides = [Side::open(&paths[0]), Side::open(&paths[1])];
    for side in &mut sides {
        side.runtime.settle();
    }
    figures.push(interleaved(
        "a task created, reserved and ended beside N parked ones",
        sizes,
        Some(2.0),
        |side| sides[side].cycle(),
    ));
    figures
}
