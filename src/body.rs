//! Request bodies: bounded while they are read, then checked to be JSON that every later reader can take.

use crate::error::ApiError;
use crate::limits::DRAIN_BYTES;
use futures::future::select;
use futures::{Stream, StreamExt};
use std::pin::pin;
use tidehold_delta::{Json, ParseError};
use tidehold_durable_objects::limits::BODY_DEPTH;

/// What the headers say about a body.
#[derive(Clone, Copy, Debug, Default)]
pub struct BodyHeaders<'a> {
    pub content_type: Option<&'a str>,
    pub content_encoding: Option<&'a str>,
    pub content_length: Option<&'a str>,
}

/// The body as text: JSON as it was sent, white space included, or empty.
pub async fn read_json<E: std::fmt::Display>(
    headers: BodyHeaders<'_>,
    chunks: Option<&mut (impl Stream<Item = Result<Vec<u8>, E>> + Unpin)>,
    limit: usize,
) -> Result<String, ApiError> {
    let bytes = read_bounded(headers, chunks, limit).await?;
    if bytes.is_empty() {
        return Ok(String::new());
    }
    require_json_type(headers.content_type)?;
    let text = String::from_utf8(bytes).map_err(|_| ApiError::text("the body is not valid UTF-8"))?;
    match Json::parse(&text, BODY_DEPTH) {
        Ok(_) => Ok(text),
        Err(error @ ParseError::LoneSurrogate { .. }) => Err(ApiError::text(error.to_string())),
        Err(error) => Err(ApiError::json(error.to_string())),
    }
}

async fn read_bounded<E: std::fmt::Display>(
    headers: BodyHeaders<'_>,
    chunks: Option<&mut (impl Stream<Item = Result<Vec<u8>, E>> + Unpin)>,
    limit: usize,
) -> Result<Vec<u8>, ApiError> {
    let encoding = headers.content_encoding.map(str::trim).unwrap_or_default();
    if !encoding.is_empty() && !encoding.eq_ignore_ascii_case("identity") {
        return Err(ApiError::media_type("content-encoding must be identity"));
    }
    let announced = headers
        .content_length
        .and_then(|length| length.trim().parse::<u64>().ok());
    if announced.is_some_and(|length| length > limit as u64) {
        return Err(ApiError::body_too_large(limit));
    }
    let mut bytes = Vec::new();
    let Some(chunks) = chunks else { return Ok(bytes) };
    while let Some(chunk) = chunks.next().await {
        // The connection broke; whoever sent it will not read the answer.
        let chunk = chunk.map_err(|error| ApiError::json(format!("the body could not be read: {error}")))?;
        if bytes.len() + chunk.len() > limit {
            return Err(ApiError::body_too_large(limit));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Reads and forgets what is left of a refused body: a client that still sends would otherwise see its connection break
/// instead of the answer. Up to a bound, and until `enough`: it may never end.
pub async fn drain<E>(
    chunks: &mut (impl Stream<Item = Result<Vec<u8>, E>> + Unpin),
    enough: impl Future<Output = ()>,
) {
    let reading = async {
        let mut left = DRAIN_BYTES;
        while let Some(Ok(chunk)) = chunks.next().await {
            match left.checked_sub(chunk.len()) {
                Some(rest) => left = rest,
                None => return,
            }
        }
    };
    select(pin!(reading), pin!(enough)).await;
}

fn require_json_type(content_type: Option<&str>) -> Result<(), ApiError> {
    let given = content_type.unwrap_or_default();
    let mut parts = given.split(';').map(str::trim);
    let json = parts
        .next()
        .is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    let utf8 = parts.all(|parameter| match parameter.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    });
    match json && utf8 {
        true => Ok(()),
        false => Err(ApiError::media_type("the body must be application/json in UTF-8")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::executor::block_on;
    use futures::{future, stream};

    const JSON: BodyHeaders<'static> = BodyHeaders {
        content_type: Some("application/json"),
        content_encoding: None,
        content_length: None,
    };

    fn read(headers: BodyHeaders<'_>, chunks: &[&[u8]], limit: usize) -> Result<String, (u16, &'static str)> {
        let chunks: Vec<Result<Vec<u8>, String>> = chunks.iter().map(|chunk| Ok(chunk.to_vec())).collect();
        block_on(read_json(headers, Some(&mut stream::iter(chunks)), limit)).map_err(|error| {
            let (code, status) = error.code.wire();
            (status, code)
        })
    }

    #[test]
    fn bodies_are_kept_as_sent() {
        assert_eq!(
            read(JSON, &[b" {\"a\":", b" 1}\n"], 100),
            Ok(" {\"a\": 1}\n".to_owned())
        );
        assert_eq!(read(BodyHeaders::default(), &[], 100), Ok(String::new()));
        let charset = BodyHeaders {
            content_type: Some("Application/JSON; charset=\"UTF-8\""),
            ..JSON
        };
        assert_eq!(read(charset, &[b"{}"], 2), Ok("{}".to_owned()));
    }

    #[test]
    fn limits_hold_before_and_while_reading() {
        let announced = BodyHeaders {
            content_length: Some("101"),
            ..JSON
        };
        assert_eq!(read(announced, &[], 100), Err((413, "body_too_large")));
        assert_eq!(
            read(JSON, &[&[b' '; 60], &[b' '; 41]], 100),
            Err((413, "body_too_large"))
        );
    }

    #[test]
    fn a_refused_body_is_read_up_to_a_bound_and_for_a_while() {
        let chunk = || Ok::<_, String>(vec![b' '; DRAIN_BYTES / 4]);
        let mut chunks = stream::iter([chunk(), chunk(), chunk(), chunk(), chunk(), chunk()]);
        block_on(drain(&mut chunks, future::pending()));
        assert_eq!(block_on(chunks.count()), 1, "bytes");
        let mut endless = stream::pending::<Result<Vec<u8>, String>>();
        block_on(drain(&mut endless, future::ready(())));
    }

    #[test]
    fn other_types_and_encodings_are_refused() {
        let unsupported = Err((415, "media_type_unsupported"));
        for content_type in [None, Some("text/plain"), Some("application/json; charset=latin1")] {
            assert_eq!(
                read(BodyHeaders { content_type, ..JSON }, &[b"{}"], 100),
                unsupported
            );
        }
        assert_eq!(
            read(
                BodyHeaders {
                    content_encoding: Some("gzip"),
                    ..JSON
                },
                &[b"{}"],
                100
            ),
            unsupported
        );
        assert!(
            read(
                BodyHeaders {
                    content_encoding: Some("identity"),
                    ..JSON
                },
                &[b"{}"],
                100
            )
            .is_ok()
        );
    }

    #[test]
    fn what_is_not_json_or_not_text_is_told_apart() {
        assert_eq!(read(JSON, &[b"{"], 100), Err((400, "json_invalid")));
        assert_eq!(read(JSON, &[b"\xff"], 100), Err((400, "text_invalid")));
        assert_eq!(read(JSON, &[br#"["\ud83d"]"#], 100), Err((400, "text_invalid")));
        assert!(read(JSON, &[br#"["\ud83c\udf0a"]"#], 100).is_ok());
        let nested = |levels: usize| ["[".repeat(levels), "]".repeat(levels)].concat();
        assert!(read(JSON, &[nested(128).as_bytes()], 1000).is_ok());
        assert_eq!(
            read(JSON, &[nested(129).as_bytes()], 1000),
            Err((400, "json_invalid"))
        );
    }
}
