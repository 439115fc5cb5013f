//! Where an object keeps its open session: at most one, opened once for however many requests ask for it.

use super::App;
use crate::platform::life::Life;
use crate::protocol::OperationError;
use futures::FutureExt;
use futures::future::{LocalBoxFuture, Shared};
use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

/// An open session and its life.
pub struct Opened<A: App> {
    pub session: Rc<A::Session>,
    pub life: Life,
}

impl<A: App> Clone for Opened<A> {
    fn clone(&self) -> Self {
        Self {
            session: Rc::clone(&self.session),
            life: self.life.clone(),
        }
    }
}

type Opening<A> = Shared<LocalBoxFuture<'static, Result<Opened<A>, OperationError>>>;

enum Content<A: App> {
    Empty,
    Opening(Life, Opening<A>),
    Open(Opened<A>),
}

pub struct Slot<A: App>(RefCell<Content<A>>);

impl<A: App> Default for Slot<A> {
    fn default() -> Self {
        Self(RefCell::new(Content::Empty))
    }
}

impl<A: App> Slot<A> {
    /// The open session. Requests that come while it opens share that one opening; after a failed one the next
    /// request tries again.
    pub async fn get_or_open<F>(&self, open: impl FnOnce(Life) -> F) -> Result<Opened<A>, OperationError>
    where
        F: Future<Output = Result<Rc<A::Session>, OperationError>> + 'static,
    {
        let (life, opening) = {
            let mut content = self.0.borrow_mut();
            match &*content {
                Content::Open(opened) => return Ok(opened.clone()),
                Content::Opening(life, opening) => (life.clone(), opening.clone()),
                Content::Empty => {
                    let life = Life::default();
                    let work = open(life.clone());
                    let kept = life.clone();
                    let opening = async move { work.await.map(|session| Opened { session, life: kept }) };
                    let opening = opening.boxed_local().shared();
                    *content = Content::Opening(life.clone(), opening.clone());
                    (life, opening)
                }
            }
        };
        let result = opening.await;
        self.settle(&life, &result);
        result
    }

    fn settle(&self, life: &Life, result: &Result<Opened<A>, OperationError>) {
        let mut content = self.0.borrow_mut();
        if matches!(&*content, Content::Opening(current, _) if current.is(life)) {
            *content = match result {
                Ok(opened) => Content::Open(opened.clone()),
                Err(_) => Content::Empty,
            };
        }
    }

    /// Empties the slot if it holds the session of `life`, and returns what it held.
    pub fn close(&self, life: &Life) -> Option<Opened<A>> {
        let mut content = self.0.borrow_mut();
        let current = match &*content {
            Content::Empty => return None,
            Content::Opening(current, _) => current,
            Content::Open(opened) => &opened.life,
        };
        if !current.is(life) {
            return None;
        }
        match std::mem::replace(&mut *content, Content::Empty) {
            Content::Open(opened) => Some(opened),
            Content::Opening(..) | Content::Empty => None,
        }
    }
}
