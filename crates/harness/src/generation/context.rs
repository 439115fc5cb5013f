//! The committed model context of a request: the visible range through its cutoff, derived purely.

use std::rc::Rc;
use tidehold_models::message::Message;
use tidehold_session::context::{ContextView, derive_context};
use tidehold_session::ids::{ConversationId, EntryId};
use tidehold_session::limits::SCAN_PAGE;
use tidehold_session::records::EntryRecord;
use tidehold_session::storage::{EntryQuery, ScanOrder};
use tidehold_session::{Session, SessionError};

/// The newest visible head marker at or before the cutoff, and the range it opens, ascending.
pub(crate) async fn active_range(
    session: &Session,
    conversation: ConversationId,
    cutoff: Option<EntryId>,
) -> Result<(Option<Rc<EntryRecord>>, Vec<Rc<EntryRecord>>), SessionError> {
    let marker = session.latest_head_marker(conversation, cutoff).await?;
    let query = EntryQuery {
        conversation_id: conversation,
        min_entry_id: marker.as_ref().map(|marker| marker.head),
        max_entry_id: cutoff,
        order: Some(ScanOrder::Ascending),
    };
    let mut range = Vec::new();
    let mut cursor = None;
    loop {
        let page = session.scan_entries(&query, SCAN_PAGE, cursor.as_ref()).await?;
        range.extend(page.items.into_iter().map(Rc::new));
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok((marker.map(|marker| Rc::new(marker.entry)), range)),
        }
    }
}

/// The derived context of a conversation (spec 2.1).
pub(crate) async fn read(
    session: &Session,
    conversation: ConversationId,
    cutoff: Option<EntryId>,
) -> Result<ContextView, SessionError> {
    let (marker, range) = active_range(session, conversation, cutoff).await?;
    Ok(derive_context(marker, range))
}

/// Typed messages of a derived context.
pub(crate) fn messages(view: &ContextView) -> Result<Vec<Message>, SessionError> {
    let typed = view.messages.iter().map(|message| message.to_typed::<Message>());
    typed
        .collect::<Result<_, _>>()
        .map_err(|error| crate::error::malformed("transcript message", &error))
}
