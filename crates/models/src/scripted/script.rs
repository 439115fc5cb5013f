//! A whole script: blocks of directives, one block a turn.

use super::directive::{Directive, parse_directive};
use crate::errors::{is_overflow_text, is_retryable_text};
use crate::limits::ANSWER_BYTES;

/// What a prompt is.
#[derive(Clone, Debug, PartialEq)]
pub enum Prompt {
    /// Its own answer.
    Echo(String),
    /// A script.
    Script(Script),
}

/// The blocks of a script in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    blocks: Vec<Block>,
}

/// The lines that answer one turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// The directives in order.
    pub directives: Vec<Directive>,
    /// The lines they were read from, so that a deferred answer can carry them.
    pub source: String,
}

/// A line that is no directive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// From 1.
    pub number: usize,
    /// The line.
    pub text: String,
    /// What is wrong with it.
    pub reason: String,
}

/// Reads a prompt: a script exactly when its first line starts with `@`.
pub fn parse_prompt(text: &str) -> Result<Prompt, BadLine> {
    if !text.starts_with('@') {
        return Ok(Prompt::Echo(text.to_owned()));
    }
    parse_script(text).map(Prompt::Script)
}

/// Reads a script as a whole: a bad line anywhere refuses all of it, so that a mistake shows at once and not in turn
/// seven.
pub fn parse_script(text: &str) -> Result<Script, BadLine> {
    let mut blocks = Vec::new();
    let mut block = Block::default();
    let mut bytes = 0u64;
    for (index, line) in text.split('\n').enumerate() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let bad = |reason: String| BadLine {
            number: index + 1,
            text: line.to_owned(),
            reason,
        };
        match line.trim() {
            "" => {}
            "---" => {
                blocks.push(std::mem::take(&mut block));
                bytes = 0;
            }
            _ => {
                let directive = parse_directive(line).map_err(bad)?;
                bytes = bytes.saturating_add(directive.answer_bytes());
                if bytes > ANSWER_BYTES as u64 {
                    return Err(bad(format!("an answer has at most {ANSWER_BYTES} bytes")));
                }
                block.directives.push(directive);
                block.source.push_str(line);
                block.source.push('\n');
            }
        }
    }
    blocks.push(block);
    Ok(Script { blocks })
}

impl Script {
    /// The block that answers after `rounds` rounds of tool results. Past the last block there is nothing to say: the
    /// answer is empty and stops, which ends the run, so a script may leave out the turn after its last call.
    pub fn block(&self, rounds: usize) -> Block {
        self.blocks.get(rounds).cloned().unwrap_or_default()
    }
}

impl Block {
    /// What attempt `ordinal` (from 1) of a generation plays: of the lines that fail, it consumes the one with its
    /// number and stops there; those of earlier attempts are skipped. Past the list it plays everything else.
    pub fn for_attempt(&self, ordinal: u32) -> Vec<Directive> {
        let mut failures = 0u32;
        let mut played = Vec::new();
        for directive in &self.directives {
            if matches!(directive, Directive::Fail(_) | Directive::Overflow) {
                failures = failures.saturating_add(1);
                if failures < ordinal.max(1) {
                    continue;
                }
                played.push(directive.clone());
                break;
            }
            played.push(directive.clone());
        }
        played
    }
}

impl BadLine {
    /// The error text of the answer. It names the line by number and text, unless the text happens to read like an
    /// error that a caller would retry or recover from: a typing error must not start a backoff.
    pub fn error_text(&self) -> String {
        let quoted: String = self.text.chars().take(200).collect();
        let full = format!("Script line {}: {}: {}", self.number, self.reason, quoted);
        let short = format!("Script line {}: {}", self.number, self.reason);
        let plain = format!("Script line no{}: not a valid directive", self.number);
        let harmless = |text: &String| !is_retryable_text(text) && !is_overflow_text(text);
        [full, short].into_iter().find(harmless).unwrap_or(plain)
    }
}
