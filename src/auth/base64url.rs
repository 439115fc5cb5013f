//! Base64 in the alphabet of URLs, without padding (RFC 7515).

/// The bytes of `text`; `None` for anything but canonical base64url.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut held) = (0u32, 0);
    for character in text.bytes() {
        bits = bits << 6 | u32::from(value(character)?);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    // A whole character left over, or left-over bits that are not zero, is no encoding of anything.
    (held < 6 && bits == 0).then_some(bytes)
}

fn value(character: u8) -> Option<u8> {
    match character {
        b'A'..=b'Z' => Some(character - b'A'),
        b'a'..=b'z' => Some(character - b'a' + 26),
        b'0'..=b'9' => Some(character - b'0' + 52),
        b'-' => Some(62),
        b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn decodes_what_is_canonical() {
        assert_eq!(decode("").as_deref(), Some(&b""[..]));
        assert_eq!(decode("Zg").as_deref(), Some(&b"f"[..]));
        assert_eq!(decode("Zm8").as_deref(), Some(&b"fo"[..]));
        assert_eq!(decode("Zm9v_-8").as_deref(), Some(&b"foo\xff\xef"[..]));
        for text in ["Z", "Zh", "Zm9=", "Zm+v", "Zm9v\n"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
