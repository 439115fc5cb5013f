//! Delivery of a canonical value: inline within 16 KiB of redacted JSON, else by reference. Never truncated.

use crate::limits::INLINE_VALUE_BYTES;
use crate::public_run::Output;
use crate::receipt::Warning;
use crate::redact::Redacted;

/// A value on its way into a receipt, within what is left of the receipt's own budget.
pub(crate) fn deliver(value: &Redacted, budget: usize) -> (Output, Option<Warning>) {
    if value.value.encoded_len() > INLINE_VALUE_BYTES.min(budget) {
        return (Output::reference(), None);
    }
    (
        Output::inline(value.value.clone()),
        value.changed.then_some(Warning::OutputRedacted),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::public_run::Delivery;
    use crate::redact;
    use tidehold_delta::{Json, json};

    fn delivery(value: Json) -> Delivery {
        deliver(&redact::value(&value), usize::MAX).0.delivery
    }

    #[test]
    fn the_border_is_at_16_kib_of_json() {
        // Two bytes are the quotation marks.
        assert_eq!(delivery(Json::from("a".repeat(16_382))), Delivery::Inline);
        assert_eq!(delivery(Json::from("a".repeat(16_383))), Delivery::Reference);
        assert_eq!(delivery(Json::from("\n".repeat(8_191))), Delivery::Inline);
        assert_eq!(delivery(Json::from("\n".repeat(8_192))), Delivery::Reference);
    }

    #[test]
    fn it_is_measured_after_redaction_and_every_value_counts() {
        let secret = format!("sk-{}", "a".repeat(20_000));
        let (output, warning) = deliver(&redact::value(&Json::from(secret)), usize::MAX);
        assert_eq!(output.value, Some(Json::from("[REDACTED]")));
        assert_eq!(warning, Some(Warning::OutputRedacted));
        for empty in [
            json!(null),
            json!(false),
            json!(0),
            json!(""),
            json!([]),
            json!({}),
        ] {
            let (output, warning) = deliver(&redact::value(&empty), usize::MAX);
            assert_eq!((output.value, warning), (Some(empty), None));
        }
    }
}
