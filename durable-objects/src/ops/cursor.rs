//! Page cursors on the wire: the storage's own position as opaque text.

use crate::protocol::{Code, OperationError};
use tidehold_contract::hex;
use tidehold_delta::Json;
use tidehold_session::storage::Cursor;

/// Cursors are small objects; anything deeper is none of ours.
const DEPTH: usize = 4;

/// Opaque text of a position: hexadecimal JSON, safe in a query as it is.
pub fn encode(cursor: &Cursor) -> Json {
    Json::from(hex::encode(cursor.0.to_string().as_bytes()))
}

/// The position in `text`. The storage still checks that it belongs to the scan.
pub fn decode(text: &str) -> Result<Cursor, OperationError> {
    let invalid = || OperationError::new(Code::CursorInvalid, "the cursor is not one of this list");
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let mut bytes = Vec::with_capacity(text.len() / 2);
    for pair in text.as_bytes().chunks(2) {
        let [high, low] = pair else { return Err(invalid()) };
        bytes.push(
            digit(*high)
                .zip(digit(*low))
                .map(|(high, low)| high * 16 + low)
                .ok_or_else(invalid)?,
        );
    }
    let json = String::from_utf8(bytes).map_err(|_| invalid())?;
    Json::parse(&json, DEPTH).map(Cursor).map_err(|_| invalid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_survive_the_wire_and_other_text_is_refused() {
        let cursor = Cursor(Json::parse(r#"{"after":7,"order":"ascending"}"#, 4).unwrap());
        let text = encode(&cursor);
        assert_eq!(decode(text.as_str().unwrap()).unwrap(), cursor);
        for odd in ["", "x", "zz", "7b", "äö", "ff"] {
            assert_eq!(decode(odd).unwrap_err().code, Code::CursorInvalid, "{odd}");
        }
    }
}
