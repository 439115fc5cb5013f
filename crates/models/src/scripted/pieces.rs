//! How texts are cut into deltas.

/// Bytes of the first piece of `text`: up to the first white space and all white space that follows it. Pieces put
/// together are the text, whatever it holds.
pub fn piece_len(text: &str) -> usize {
    let mut after_space = false;
    for (index, character) in text.char_indices() {
        if character.is_whitespace() {
            after_space = true;
        } else if after_space {
            return index;
        }
    }
    text.len()
}

/// A text, or copies of one, handed out piece by piece.
#[derive(Clone, Debug)]
pub enum Pieces {
    /// One text in pieces that end after white space.
    Text {
        /// The whole text.
        text: String,
        /// Bytes already handed out.
        at: usize,
    },
    /// Copies joined by one space, a piece each.
    Copies {
        /// The copied text.
        text: String,
        /// Copies not handed out.
        left: u64,
    },
}

impl Pieces {
    /// A text in pieces that end after white space.
    pub fn of(text: String) -> Self {
        Self::Text { text, at: 0 }
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text { text, at } => *at >= text.len(),
            Self::Copies { text, left } => *left == 0 || (*left == 1 && text.is_empty()),
        }
    }
}

impl Iterator for Pieces {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        match self {
            Self::Text { text, at } => {
                let rest = text.get(*at..).filter(|rest| !rest.is_empty())?;
                let length = piece_len(rest);
                *at += length;
                rest.get(..length).map(str::to_owned)
            }
            Self::Copies { left: 0, .. } => None,
            Self::Copies { text, left } => {
                *left -= 1;
                Some(if *left == 0 {
                    text.clone()
                } else {
                    format!("{text} ")
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let pieces: Vec<String> = Pieces::of(text.to_owned()).collect();
        assert_eq!(pieces, expected);
        assert_eq!(pieces.concat(), text);
    }

    #[test]
    fn pieces_end_after_white_space_and_rebuild_the_text() {
        check("", &[]);
        check("one", &["one"]);
        check("one two  three", &["one ", "two  ", "three"]);
        check("  lead\r\n\ttab ", &["  ", "lead\r\n\t", "tab "]);
        check(
            "a \u{301}b \u{0}\u{1}\u{1f} 👩‍👩‍👧 é",
            &["a ", "\u{301}b ", "\u{0}\u{1}\u{1f} ", "👩‍👩‍👧 ", "é"],
        );
    }

    #[test]
    fn every_control_character_survives() {
        let text: String = (0..0x20u8).map(char::from).collect();
        let pieces: Vec<String> = Pieces::of(text.clone()).collect();
        assert_eq!(pieces.concat(), text);
    }

    #[test]
    fn copies_are_joined_by_one_space() {
        let pieces: Vec<String> = Pieces::Copies {
            text: "ab".into(),
            left: 3,
        }
        .collect();
        assert_eq!(pieces, ["ab ", "ab ", "ab"]);
    }
}
