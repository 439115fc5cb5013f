//! Offsets in UTF-16 code units, the unit of every length and count in Chord operations.

/// Length of `text` in UTF-16 code units: one per character, two for those beyond U+FFFF.
pub fn utf16_len(text: &str) -> usize {
    // A character starts at every byte that is no continuation byte, and needs a pair from 0xF0 on.
    text.bytes()
        .map(|byte| usize::from(byte & 0xC0 != 0x80) + usize::from(byte >= 0xF0))
        .sum()
}

/// Byte offset of the code unit `unit`.
///
/// `None` when `unit` lies beyond the end or inside a surrogate pair; the end itself is a valid offset.
pub fn byte_of_unit(text: &str, unit: usize) -> Option<usize> {
    let mut seen = 0;
    for (byte, character) in text.char_indices() {
        if seen >= unit {
            return (seen == unit).then_some(byte);
        }
        seen += character.len_utf16();
    }
    (seen == unit).then_some(text.len())
}

/// Code units before the byte offset `byte`; `None` when it is no character boundary of `text`.
pub fn unit_of_byte(text: &str, byte: usize) -> Option<usize> {
    text.get(..byte).map(utf16_len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_code_units() {
        for (text, units) in [
            ("", 0),
            ("abc", 3),
            ("é", 1),
            ("e\u{301}", 2),
            ("😀", 2),
            ("🇩🇪", 4),
        ] {
            assert_eq!(utf16_len(text), units, "{text}");
            assert_eq!(utf16_len(text), text.encode_utf16().count());
        }
        assert_eq!(utf16_len("👨\u{200d}👩\u{200d}👧\u{200d}👦"), 11);
    }

    #[test]
    fn offsets_translate_both_ways() {
        let text = "a😀é";
        assert_eq!(byte_of_unit(text, 0), Some(0));
        assert_eq!(byte_of_unit(text, 1), Some(1));
        assert_eq!(byte_of_unit(text, 2), None, "inside a pair");
        assert_eq!(byte_of_unit(text, 3), Some(5));
        assert_eq!(byte_of_unit(text, 4), Some(7));
        assert_eq!(byte_of_unit(text, 5), None, "beyond the end");
        assert_eq!(unit_of_byte(text, 5), Some(3));
        assert_eq!(unit_of_byte(text, 2), None);
    }
}
