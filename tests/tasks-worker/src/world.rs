//! What the test can see and do from inside an object: see world.js.

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use js_sys::Promise;
use js_sys::futures::JsFuture;
use tidehold_durable_objects::platform::host::WasmHost;
use tidehold_session::host::{Host, Millis};
use tidehold_session::ids::TaskId;
use wasm_bindgen::prelude::*;
use worker::State;

#[wasm_bindgen(module = "/src/world.js")]
extern "C" {
    #[derive(Clone)]
    pub type World;

    #[wasm_bindgen(static_method_of = World, js_name = of)]
    fn of_raw(state: &JsValue) -> World;
    #[wasm_bindgen(method, js_name = note)]
    fn note_raw(this: &World, task: f64, what: &str);
    #[wasm_bindgen(method, js_name = noted)]
    fn noted_raw(this: &World, task: f64, what: &str) -> u32;
    /// Everything noted, as JSON.
    #[wasm_bindgen(method)]
    pub fn notes(this: &World) -> String;
    #[wasm_bindgen(method, js_name = breakIt)]
    pub fn break_it(this: &World, what: &str, times: u32);
    #[wasm_bindgen(method, js_name = takeFault)]
    pub fn take_fault(this: &World, what: &str) -> bool;
    #[wasm_bindgen(method, setter)]
    pub fn set_broken(this: &World, broken: bool);
    #[wasm_bindgen(method, getter)]
    fn ahead(this: &World) -> f64;
    #[wasm_bindgen(method, js_name = setAhead)]
    pub fn move_clock(this: &World, milliseconds: f64);
    #[wasm_bindgen(method, js_name = end)]
    fn end_raw(this: &World) -> Promise;
    #[wasm_bindgen(method, getter, js_name = alarmsSet)]
    pub fn alarms_set(this: &World) -> u32;
    #[wasm_bindgen(method, getter, js_name = alarmsDeleted)]
    pub fn alarms_deleted(this: &World) -> u32;
    #[wasm_bindgen(method, getter)]
    pub fn timers(this: &World) -> u32;
    #[wasm_bindgen(method, setter)]
    fn set_timers(this: &World, timers: u32);
    #[wasm_bindgen(method)]
    pub fn charge(this: &World, key: &str, card: &str, cents: f64) -> String;
    #[wasm_bindgen(method)]
    pub fn refund(this: &World, key: &str);
    /// The lines of the bank, as JSON.
    #[wasm_bindgen(method)]
    pub fn bank(this: &World) -> String;
}

impl World {
    pub fn of(state: &State) -> Self {
        Self::of_raw(state.as_raw())
    }

    pub fn note(&self, task: TaskId, what: &str) {
        self.note_raw(task.0 as f64, what);
    }

    /// How often that was noted of the task.
    pub fn noted(&self, task: TaskId, what: &str) -> u32 {
        self.noted_raw(task.0 as f64, what)
    }

    /// Ends the object, and never returns.
    pub async fn end(&self) {
        let _ = JsFuture::from(self.end_raw()).await;
        futures::future::pending().await
    }
}

/// The product's host with a clock that is ahead, and a count of its timers. Alarms stay the platform's: what is parked
/// until a time is not tested with it.
pub struct AheadHost {
    pub inner: WasmHost,
    pub world: World,
}

impl Host for AheadHost {
    fn now(&self) -> Millis {
        self.inner.now() + self.world.ahead() as Millis
    }

    fn sleep_until(&self, at: Millis) -> LocalBoxFuture<'static, ()> {
        self.world.set_timers(self.world.timers() + 1);
        let at = at.saturating_sub(self.world.ahead() as Millis);
        self.inner.sleep_until(at).boxed_local()
    }

    fn spawn(&self, future: LocalBoxFuture<'static, ()>) {
        self.inner.spawn(future);
    }

    fn entropy(&self, bytes: &mut [u8]) {
        self.inner.entropy(bytes);
    }
}
