//! The definitions a scheduler knows, by kind (spec 5.4).

use crate::erased::{ErasedTask, Typed};
use crate::task::Task;
use litemap::LiteMap;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

type ChangeListener = Rc<dyn Fn(&'static str)>;

/// Installed task definitions. Clones share them; installing again replaces a definition, also while tasks run.
#[derive(Clone, Default)]
pub struct TaskRegistry(Rc<Shared>);

#[derive(Default)]
struct Shared {
    definitions: RefCell<LiteMap<&'static str, Rc<dyn ErasedTask>>>,
    listener: RefCell<Option<ChangeListener>>,
    generation: Cell<u64>,
}

impl TaskRegistry {
    /// A registry without definitions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Installs or replaces the definition of `T::NAME`. Blocked tasks of the kind are reconsidered, running ones move
    /// to it at their next phase boundary.
    pub fn install<T: Task>(&self, definition: Rc<T>) {
        let definition: Rc<dyn ErasedTask> = Rc::new(Typed(definition));
        self.0.definitions.borrow_mut().insert(T::NAME, definition);
        self.changed(T::NAME);
    }

    /// Removes a definition. Its tasks wait, blocked, for another one; running ones go on under the old code.
    pub fn remove(&self, name: &'static str) {
        if self.0.definitions.borrow_mut().remove(name).is_some() {
            self.changed(name);
        }
    }

    /// The installed version of a kind.
    pub fn version(&self, name: &str) -> Option<u32> {
        self.get(name).map(|definition| definition.version())
    }

    /// Counts changes.
    pub fn generation(&self) -> u64 {
        self.0.generation.get()
    }

    pub(crate) fn get(&self, name: &str) -> Option<Rc<dyn ErasedTask>> {
        self.0.definitions.borrow().get(name).cloned()
    }

    /// The scheduler of this registry; a later one takes over.
    pub(crate) fn listen(&self, listener: impl Fn(&'static str) + 'static) {
        *self.0.listener.borrow_mut() = Some(Rc::new(listener));
    }

    fn changed(&self, name: &'static str) {
        self.0.generation.set(self.0.generation.get() + 1);
        let listener = self.0.listener.borrow().clone();
        if let Some(listener) = listener {
            listener(name);
        }
    }
}
