//! One line of a script.

use crate::limits::{ANSWER_BYTES, SCRIPT_PAUSE_MS};
use tidehold_delta::Json;

/// Largest number of a script: far more than makes sense, and sums stay exact in JSON.
const LARGEST_NUMBER: u64 = 1 << 40;

/// What a line does. The table of docs/http.md, typed.
#[derive(Clone, Debug, PartialEq)]
pub enum Directive {
    /// Adds text.
    Say(String),
    /// Adds copies of a text joined by one space.
    Repeat {
        /// How many.
        copies: u64,
        /// Of what.
        text: String,
    },
    /// Adds a thinking block.
    Think(String),
    /// Adds a tool call.
    Call {
        /// The tool.
        tool: String,
        /// The JSON text of the arguments as written; it is what streams.
        text: String,
        /// The arguments, an object.
        arguments: Json,
    },
    /// One pause here, in milliseconds.
    Wait(u64),
    /// A pause before each following delta, in milliseconds.
    Pace(u64),
    /// A provider error with this text, for the attempt that consumes the line.
    Fail(String),
    /// A context overflow, for the attempt that consumes the line.
    Overflow,
    /// Reported usage.
    Usage {
        /// Prompt tokens.
        input: u64,
        /// Answer tokens.
        output: u64,
    },
    /// Another stop reason.
    Stop(Stop),
    /// The answer comes later, this many milliseconds after the request.
    Defer(u64),
}

/// Stop reasons a script can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Cut by the token limit.
    Length,
    /// Failed.
    Error,
    /// Given up.
    Aborted,
}

impl Directive {
    /// Bytes of answer the line adds.
    pub fn answer_bytes(&self) -> u64 {
        let length = |text: &str| text.len() as u64;
        match self {
            Self::Say(text) | Self::Think(text) | Self::Call { text, .. } => length(text),
            Self::Repeat { copies, text } => copies.saturating_mul(length(text).saturating_add(1)),
            _ => 0,
        }
    }
}

/// Reads one line, which is neither blank nor a separator. The error says what is wrong with it.
pub fn parse_directive(line: &str) -> Result<Directive, String> {
    let line = line.trim_start();
    if !line.starts_with('@') {
        return Err("a line of a script starts with a directive".to_owned());
    }
    // One space ends the directive's name; whatever follows it belongs to the argument, white space included.
    let (name, argument) = line.split_once(' ').unwrap_or((line, ""));
    match name.trim_end() {
        "@say" => Ok(Directive::Say(say_text(argument))),
        "@think" => Ok(Directive::Think(argument.to_owned())),
        "@repeat" => repeat(argument),
        "@call" => call(argument),
        "@wait" => Ok(Directive::Wait(milliseconds(argument)?)),
        "@pace" => Ok(Directive::Pace(milliseconds(argument)?)),
        "@defer" => Ok(Directive::Defer(milliseconds(argument)?)),
        "@fail" => fail(argument),
        "@overflow" if argument.trim().is_empty() => Ok(Directive::Overflow),
        "@overflow" => Err("@overflow takes no argument".to_owned()),
        "@usage" => usage(argument),
        "@stop" => stop(argument),
        _ => Err("no such directive".to_owned()),
    }
}

/// A JSON string literal stands for its value, everything else for itself.
fn say_text(argument: &str) -> String {
    let literal = argument.trim();
    let parsed = if literal.starts_with('"') {
        crate::json::parse(literal).ok()
    } else {
        None
    };
    match parsed.as_ref().and_then(Json::as_str) {
        Some(text) => text.to_owned(),
        None => argument.to_owned(),
    }
}

fn repeat(argument: &str) -> Result<Directive, String> {
    let (copies, text) = argument.split_once(' ').unwrap_or((argument, ""));
    let copies = integer(copies).ok_or("@repeat takes a number and a text")?;
    let directive = Directive::Repeat {
        copies,
        text: text.to_owned(),
    };
    if directive.answer_bytes() > ANSWER_BYTES as u64 {
        return Err(format!("an answer has at most {ANSWER_BYTES} bytes"));
    }
    Ok(directive)
}

fn call(argument: &str) -> Result<Directive, String> {
    let argument = argument.trim();
    let (tool, text) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    if tool.is_empty() {
        return Err("@call takes a tool and a JSON object".to_owned());
    }
    let text = match text.trim() {
        "" => "{}",
        text => text,
    };
    let arguments =
        crate::json::parse(text).map_err(|error| format!("the arguments are no JSON: {error}"))?;
    if arguments.as_object().is_none() {
        return Err("the arguments are no JSON object".to_owned());
    }
    Ok(Directive::Call {
        tool: tool.to_owned(),
        text: text.to_owned(),
        arguments,
    })
}

fn fail(argument: &str) -> Result<Directive, String> {
    let argument = argument.trim();
    let status = argument.split(char::is_whitespace).next().unwrap_or_default();
    match integer(status) {
        Some(100..=599) => Ok(Directive::Fail(argument.to_owned())),
        _ => Err("@fail takes an HTTP status and a message".to_owned()),
    }
}

fn usage(argument: &str) -> Result<Directive, String> {
    let numbers: Vec<Option<u64>> = argument.split_whitespace().map(integer).collect();
    match numbers.as_slice() {
        [Some(input), Some(output)] => Ok(Directive::Usage {
            input: *input,
            output: *output,
        }),
        _ => Err("@usage takes two numbers of tokens".to_owned()),
    }
}

fn stop(argument: &str) -> Result<Directive, String> {
    match argument.trim() {
        "length" => Ok(Directive::Stop(Stop::Length)),
        "error" => Ok(Directive::Stop(Stop::Error)),
        "aborted" => Ok(Directive::Stop(Stop::Aborted)),
        _ => Err("@stop takes length, error or aborted".to_owned()),
    }
}

fn milliseconds(argument: &str) -> Result<u64, String> {
    integer(argument.trim())
        .filter(|pause| *pause <= SCRIPT_PAUSE_MS)
        .ok_or_else(|| format!("it takes milliseconds, at most {SCRIPT_PAUSE_MS}"))
}

/// A number of plain digits.
fn integer(text: &str) -> Option<u64> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().filter(|number| *number <= LARGEST_NUMBER)
}
