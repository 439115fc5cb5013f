//! Server-sent events: bytes in, events out (models.md 11.8). One decoder serves every wire format.

use crate::limits::SSE_EVENT_BYTES;

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// The event's name; empty when it has none.
    pub name: String,
    /// The data lines, a line feed between two of them.
    pub data: String,
}

/// An event is larger than [`SSE_EVENT_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a server-sent event is larger than {SSE_EVENT_BYTES} bytes")]
pub struct SseTooLarge;

/// The decoder. Lines end in `\n`, `\r` or `\r\n`; a byte order mark at the start, comments, unknown fields and events
/// without data are ignored; bytes that are no UTF-8 become U+FFFD. Characters may be split between pieces.
#[derive(Clone, Debug, Default)]
pub struct SseDecoder {
    /// The line so far.
    line: Vec<u8>,
    /// The last line ended in `\r`, so a `\n` right after it belongs to it.
    after_return: bool,
    started: bool,
    event: SseEvent,
    has_data: bool,
}

impl SseDecoder {
    /// Takes the next piece and appends the events it completes. Costs time in proportion to the piece.
    pub fn feed(&mut self, mut bytes: &[u8], out: &mut Vec<SseEvent>) -> Result<(), SseTooLarge> {
        while let Some((first, rest)) = bytes.split_first() {
            if std::mem::take(&mut self.after_return) && *first == b'\n' {
                bytes = rest;
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (part, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            self.line.extend_from_slice(part);
            if self.line.len() + self.event.data.len() > SSE_EVENT_BYTES {
                return Err(SseTooLarge);
            }
            let Some((terminator, rest)) = rest.split_first() else {
                break;
            };
            self.after_return = *terminator == b'\r';
            bytes = rest;
            self.end_line(out);
        }
        Ok(())
    }

    /// The stream is over: an event that lacks its blank line counts.
    pub fn finish(&mut self, out: &mut Vec<SseEvent>) {
        if !self.line.is_empty() {
            self.end_line(out);
        }
        self.dispatch(out);
    }

    fn end_line(&mut self, out: &mut Vec<SseEvent>) {
        let bytes = std::mem::take(&mut self.line);
        let decoded = String::from_utf8_lossy(&bytes);
        let line = match std::mem::replace(&mut self.started, true) {
            true => &*decoded,
            false => decoded.strip_prefix('\u{feff}').unwrap_or(&decoded),
        };
        if line.is_empty() {
            return self.dispatch(out);
        }
        // A line that starts with a colon is a comment: its field name is empty.
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
                self.has_data = true;
            }
            _ => {}
        }
    }

    fn dispatch(&mut self, out: &mut Vec<SseEvent>) {
        let event = std::mem::take(&mut self.event);
        if std::mem::take(&mut self.has_data) && !event.data.is_empty() {
            out.push(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes `text` in one piece, byte by byte, and in pieces of three.
    #[track_caller]
    fn check(text: &[u8], expected: &[(&str, &str)]) {
        let event = |(name, data): &(&str, &str)| SseEvent {
            name: (*name).into(),
            data: (*data).into(),
        };
        let expected: Vec<SseEvent> = expected.iter().map(event).collect();
        for size in [text.len().max(1), 1, 3] {
            let mut decoder = SseDecoder::default();
            let mut events = Vec::new();
            for piece in text.chunks(size) {
                decoder.feed(piece, &mut events).expect("a small event");
            }
            decoder.finish(&mut events);
            assert_eq!(events, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn lines_end_in_every_way() {
        check(
            b"data: a\n\ndata: b\r\n\r\ndata: c\r\rdata:d",
            &[("", "a"), ("", "b"), ("", "c"), ("", "d")],
        );
    }

    #[test]
    fn names_comments_and_several_data_lines() {
        check(
            b": hi\nevent: x\ndata: a\ndata:\ndata:  b\nid: 7\nretry\n\n",
            &[("x", "a\n\n b")],
        );
        check(b"event: ping\n\ndata: a\n\n", &[("", "a")]);
        check(b"data:\n\ndata\n\n", &[]);
    }

    #[test]
    fn characters_and_marks_survive_any_cut() {
        check(
            "\u{feff}data: é🙈日\n\ndata: \u{feff}x\n\n".as_bytes(),
            &[("", "é🙈日"), ("", "\u{feff}x")],
        );
        check(b"data: a\xff\xf0\x9f\n\n", &[("", "a\u{fffd}\u{fffd}")]);
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut decoder = SseDecoder::default();
        let piece = vec![b'x'; 1024 * 1024];
        let results: Vec<_> = (0..17).map(|_| decoder.feed(&piece, &mut Vec::new())).collect();
        assert_eq!(
            (results.first(), results.last()),
            (Some(&Ok(())), Some(&Err(SseTooLarge)))
        );
    }
}
