//! The conversation's ledger (spec 8.6): every assistant entry's usage, in the commit that appends it.

use crate::docs::USAGE;
use crate::error::malformed;
use tidehold_delta::Json;
use tidehold_models::message::{AssistantMessage, Usage};
use tidehold_session::ids::ConversationId;
use tidehold_session::{SessionError, Tx};

/// Adds a response's usage under its own `provider/model`.
pub(crate) async fn add(
    tx: &Tx,
    conversation: ConversationId,
    message: &AssistantMessage,
) -> Result<(), SessionError> {
    if message.usage == Usage::default() {
        return Ok(());
    }
    let ledger = tx.doc(&USAGE, conversation).await?;
    let slot = ledger
        .at("models")
        .at(format!("{}/{}", message.provider, message.model));
    let mut total: Usage = match slot.get()? {
        Some(stored) => stored.to_typed().map_err(|error| malformed("pi.usage", &error))?,
        None => Usage::default(),
    };
    total.add(&message.usage);
    slot.set(Json::from_serialize(&total).map_err(|error| malformed("usage", &error))?)?;
    Ok(())
}

/// Adds one ledger to another, key by key.
pub(crate) fn sum(total: &Json, own: &Json) -> Result<Json, SessionError> {
    let part = |name: &'static str| -> Result<Json, SessionError> {
        let mut merged = total
            .get(name)
            .and_then(Json::as_object)
            .cloned()
            .unwrap_or_default();
        for (key, spent) in own
            .get(name)
            .and_then(Json::as_object)
            .into_iter()
            .flat_map(|own| own.iter())
        {
            let read = |value: &Json| {
                value
                    .to_typed::<Usage>()
                    .map_err(|error| malformed("pi.usage", &error))
            };
            let mut sum = merged.get(key).map(read).transpose()?.unwrap_or_default();
            sum.add(&read(spent)?);
            let json = Json::from_serialize(&sum).map_err(|error| malformed("usage", &error))?;
            merged.insert(key.clone(), json);
        }
        Ok(Json::Object(merged))
    };
    Ok(Json::object([
        ("models", part("models")?),
        ("tools", part("tools")?),
    ]))
}
