//! The committed model context of a request as typed messages.

use tidehold_models::message::Message;
use tidehold_session::SessionError;
use tidehold_session::context::ContextView;

/// Typed messages of a derived context.
pub(crate) fn messages(view: &ContextView) -> Result<Vec<Message>, SessionError> {
    let typed = view.messages.iter().map(|message| message.to_typed::<Message>());
    typed
        .collect::<Result<_, _>>()
        .map_err(|error| crate::error::malformed("transcript message", &error))
}
