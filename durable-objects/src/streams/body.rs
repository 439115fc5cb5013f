//! A response body written from here.
//!
//! It is the readable side of an identity stream, written through the stream's writer: the runtime then holds each
//! chunk until the commits before it are durable. A stream implemented in JavaScript would send at once (measured),
//! and a client could see what a crash takes back.

use crate::platform::storage::describe;
use js_sys::futures::JsFuture;
use js_sys::{Promise, Uint8Array};
use std::future::Future;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    // The global TransformStream is one only by a rule of the runtime; this class is one by name.
    type IdentityTransformStream;

    #[wasm_bindgen(constructor, catch)]
    fn new() -> Result<IdentityTransformStream, JsValue>;
    #[wasm_bindgen(method, getter)]
    fn readable(this: &IdentityTransformStream) -> web_sys::ReadableStream;
    #[wasm_bindgen(method, getter)]
    fn writable(this: &IdentityTransformStream) -> web_sys::WritableStream;
}

/// The writing end. Dropping it without [`Body::close`] cuts the body, which the reader notices.
pub struct Body {
    writer: web_sys::WritableStreamDefaultWriter,
    closed: bool,
}

/// The reader is gone.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the reader is gone: {0}")]
pub struct ReaderGone(String);

impl Body {
    /// A body and its writing end.
    pub fn new() -> worker::Result<(web_sys::ReadableStream, Self)> {
        let stream = IdentityTransformStream::new()?;
        let writer = stream.writable().get_writer()?;
        Ok((
            stream.readable(),
            Self {
                writer,
                closed: false,
            },
        ))
    }

    /// Hands `text` to the runtime in this turn. The future resolves once the reader took it, so awaiting it follows
    /// the reader's pace.
    pub fn write(&self, text: &str) -> impl Future<Output = Result<(), ReaderGone>> + use<> {
        let chunk = Uint8Array::from(text.as_bytes());
        settle(self.writer.write_with_chunk(&chunk))
    }

    /// Ends the body after everything written.
    pub fn close(mut self) -> impl Future<Output = Result<(), ReaderGone>> + use<> {
        self.closed = true;
        settle(self.writer.close())
    }
}

async fn settle(promise: Promise) -> Result<(), ReaderGone> {
    JsFuture::from(promise)
        .await
        .map(drop)
        .map_err(|thrown| ReaderGone(describe(&thrown)))
}

impl Drop for Body {
    fn drop(&mut self) {
        if !self.closed {
            let aborted = settle(self.writer.abort());
            // Somebody has to look at the promise, or the runtime reports an unhandled rejection.
            crate::platform::host::spawn_caught(async { drop(aborted.await) });
        }
    }
}
