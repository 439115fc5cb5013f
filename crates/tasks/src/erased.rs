//! A task definition without its types, as the registry and the runner hold it.

use crate::fault::TaskFault;
use crate::runtime::{Access, Runtime};
use crate::task::{Running, Task, Wake};
use futures::future::LocalBoxFuture;
use std::rc::Rc;
use tidehold_delta::{ConvertError, Json};
use tidehold_session::records::TaskRecord;

/// Input and checkpoint after a migration.
pub(crate) struct Migrated {
    pub input: Json,
    pub checkpoint: Json,
}

pub(crate) trait ErasedTask {
    fn version(&self) -> u32;
    /// The definition's answer for a stored checkpoint of its own version.
    fn wake(&self, checkpoint: &Json) -> Result<Wake, ConvertError>;
    /// Whether a stored input of its own version fits.
    fn accepts(&self, input: &Json) -> Result<(), ConvertError>;
    /// Whether data of that older version can be tried.
    fn migrates(&self, from_version: u32) -> bool;
    /// `None` where [`ErasedTask::migrates`] says no.
    fn migrate(&self, input: Json, checkpoint: Json, from_version: u32) -> Option<Result<Migrated, String>>;
    /// Tells one definition object of a kind from another, as long as both are held.
    fn identity(&self) -> *const ();
    fn run(
        &self,
        record: Rc<TaskRecord>,
        access: Rc<Access>,
    ) -> LocalBoxFuture<'static, Result<(), TaskFault>>;
    fn abort(
        &self,
        record: Rc<TaskRecord>,
        access: Rc<Access>,
    ) -> LocalBoxFuture<'static, Result<(), TaskFault>>;
}

impl dyn ErasedTask {
    /// Whether both are the same definition object, however often it was installed.
    pub fn is(&self, other: &dyn ErasedTask) -> bool {
        std::ptr::eq(self.identity(), other.identity())
    }
}

/// The erased form of a typed definition.
pub(crate) struct Typed<T: Task>(pub Rc<T>);

impl<T: Task> ErasedTask for Typed<T> {
    fn version(&self) -> u32 {
        T::VERSION
    }

    fn wake(&self, checkpoint: &Json) -> Result<Wake, ConvertError> {
        Ok(self.0.wake(&checkpoint.to_typed()?))
    }

    fn accepts(&self, input: &Json) -> Result<(), ConvertError> {
        input.to_typed::<T::Input>().map(drop)
    }

    fn migrates(&self, from_version: u32) -> bool {
        self.0.migration(from_version).is_some()
    }

    fn identity(&self) -> *const () {
        Rc::as_ptr(&self.0).cast()
    }

    fn migrate(&self, input: Json, checkpoint: Json, from_version: u32) -> Option<Result<Migrated, String>> {
        let migrated = self.0.migration(from_version)?(&self.0, input, checkpoint, from_version);
        Some(migrated.and_then(|(input, checkpoint)| {
            let encode = |error: ConvertError| error.to_string();
            Ok(Migrated {
                input: Json::from_serialize(&input).map_err(encode)?,
                checkpoint: Json::from_serialize(&checkpoint).map_err(encode)?,
            })
        }))
    }

    fn run(
        &self,
        record: Rc<TaskRecord>,
        access: Rc<Access>,
    ) -> LocalBoxFuture<'static, Result<(), TaskFault>> {
        let definition = Rc::clone(&self.0);
        Box::pin(async move { definition.run(running(record)?, Runtime::new(access)).await })
    }

    fn abort(
        &self,
        record: Rc<TaskRecord>,
        access: Rc<Access>,
    ) -> LocalBoxFuture<'static, Result<(), TaskFault>> {
        let definition = Rc::clone(&self.0);
        Box::pin(async move { definition.abort(running(record)?, Runtime::new(access)).await })
    }
}

fn running<T: Task>(record: Rc<TaskRecord>) -> Result<Running<T>, TaskFault> {
    let input = record.input.to_typed()?;
    let checkpoint = record
        .checkpoint()
        .ok_or(TaskFault::NotRunning(record.id))?
        .to_typed()?;
    Ok(Running {
        record,
        input,
        checkpoint,
    })
}
