//! Base64url without padding (RFC 4648, section 5), for cursors and tokens.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The text of `bytes`.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let padded = chunk.iter().chain(&[0, 0]).take(3);
        let word = padded.fold(0_u32, |word, byte| (word << 8) | u32::from(*byte));
        for place in 0..=chunk.len() as u32 {
            let sextet = (word >> (18 - 6 * place)) & 63;
            text.push(ALPHABET.get(sextet as usize).copied().unwrap_or(b'A').into());
        }
    }
    text
}

/// The bytes of `text`; `None` when it is not the one text of any bytes.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for chunk in text.as_bytes().chunks(4) {
        let mut word = 0_u32;
        for byte in chunk {
            word = (word << 6) | u32::from(sextet(*byte)?);
        }
        word <<= 6 * (4 - chunk.len() as u32);
        let [_, a, b, c] = word.to_be_bytes();
        let (whole, rest): (&[u8], &[u8]) = match chunk.len() {
            4 => (&[a, b, c], &[]),
            3 => (&[a, b], &[c]),
            2 => (&[a], &[b, c]),
            _ => return None,
        };
        // Stray bits would give one position two spellings.
        if rest.iter().any(|byte| *byte != 0) {
            return None;
        }
        bytes.extend_from_slice(whole);
    }
    Some(bytes)
}

fn sextet(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'-' => Some(62),
        b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_comes_back() {
        let bytes: Vec<u8> = (0..=255).rev().collect();
        for length in 0..=bytes.len() {
            assert_eq!(
                decode(&encode(&bytes[..length])).as_deref(),
                Some(&bytes[..length])
            );
        }
        assert_eq!(encode(b"\xfb\xff\xfe?"), "-__-Pw");
    }

    #[test]
    fn what_is_no_encoding_is_refused() {
        for text in ["A", "AB=", "A B", "AAAAA", "AB", "é", "+/"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
