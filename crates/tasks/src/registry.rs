//! The definitions a scheduler knows, by kind (spec 5.4).

use crate::erased::{ErasedTask, Typed};
use crate::task::Task;
use litemap::LiteMap;
use std::cell::RefCell;
use std::rc::Rc;

type ChangeListener = Rc<dyn Fn(&'static str)>;

/// Installed task definitions. Clones share them; installing again replaces a definition, also while tasks run.
#[derive(Clone, Default)]
pub struct TaskRegistry(Rc<Shared>);

#[derive(Default)]
struct Shared {
    present: RefCell<RegistrySnapshot>,
    listener: RefCell<Option<ChangeListener>>,
}

/// What was installed at one moment. A phase sees one snapshot from its start to its end (spec 5.1).
#[derive(Clone, Default)]
pub struct RegistrySnapshot(Rc<Installed>);

#[derive(Clone, Default)]
struct Installed {
    definitions: LiteMap<&'static str, Rc<dyn ErasedTask>>,
    generation: u64,
}

impl RegistrySnapshot {
    /// The installed version of a kind.
    pub fn version(&self, name: &str) -> Option<u32> {
        self.get(name).map(|definition| definition.version())
    }

    /// Counts the changes before this snapshot.
    pub fn generation(&self) -> u64 {
        self.0.generation
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Rc<dyn ErasedTask>> {
        self.0.definitions.get(name)
    }
}

impl TaskRegistry {
    /// A registry without definitions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Installs or replaces the definition of `T::NAME`. Blocked tasks of the kind are reconsidered, running ones move
    /// to it at their next phase boundary. Installing the installed object again changes nothing.
    pub fn install<T: Task>(&self, definition: Rc<T>) {
        const { assert!(T::VERSION > 0, "versions of task definitions are positive") };
        let definition: Rc<dyn ErasedTask> = Rc::new(Typed(definition));
        let installed = self.get(T::NAME);
        if installed.is_some_and(|installed| installed.is(definition.as_ref())) {
            return;
        }
        self.change(T::NAME, |definitions| {
            definitions.insert(T::NAME, definition);
        });
    }

    /// Removes a definition. Its tasks wait, blocked, for another one; running ones go on under the old code.
    pub fn remove(&self, name: &'static str) {
        if self.get(name).is_some() {
            self.change(name, |definitions| {
                definitions.remove(name);
            });
        }
    }

    /// What is installed now.
    pub fn snapshot(&self) -> RegistrySnapshot {
        self.0.present.borrow().clone()
    }

    /// The installed version of a kind.
    pub fn version(&self, name: &str) -> Option<u32> {
        self.0.present.borrow().version(name)
    }

    /// Counts changes.
    pub fn generation(&self) -> u64 {
        self.0.present.borrow().generation()
    }

    pub(crate) fn get(&self, name: &str) -> Option<Rc<dyn ErasedTask>> {
        self.0.present.borrow().get(name).cloned()
    }

    /// The scheduler of this registry; a later one takes over.
    pub(crate) fn listen(&self, listener: impl Fn(&'static str) + 'static) {
        *self.0.listener.borrow_mut() = Some(Rc::new(listener));
    }

    fn change(
        &self,
        name: &'static str,
        change: impl FnOnce(&mut LiteMap<&'static str, Rc<dyn ErasedTask>>),
    ) {
        {
            let mut present = self.0.present.borrow_mut();
            // Snapshots that are out keep what they have.
            let installed = Rc::make_mut(&mut present.0);
            change(&mut installed.definitions);
            installed.generation += 1;
        }
        let listener = self.0.listener.borrow().clone();
        if let Some(listener) = listener {
            listener(name);
        }
    }
}
