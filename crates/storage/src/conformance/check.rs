//! Checks that report where and what, instead of panicking: a panic inside an object would end its isolate.

use std::fmt::Debug;

/// Why a case failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Failure(pub String);

/// Result of a case.
pub type CaseResult<T = ()> = Result<T, Failure>;

/// Fails the case unless both are equal.
macro_rules! same {
    ($found:expr, $wanted:expr) => {
        $crate::conformance::check::same_at(concat!(file!(), ":", line!()), &$found, &$wanted)?
    };
}

/// Fails the case unless the condition holds.
macro_rules! holds {
    ($condition:expr, $($message:tt)*) => {
        if !$condition {
            let place = concat!(file!(), ":", line!());
            return Err($crate::conformance::Failure(format!("{place}: {}", format_args!($($message)*))));
        }
    };
}

/// Fails the case unless the result is an error of this shape.
macro_rules! fails {
    ($result:expr, $error:pat) => {
        match $result {
            Err($error) => {}
            other => {
                let text = $crate::conformance::check::brief(&other);
                let place = concat!(file!(), ":", line!());
                let wanted = stringify!($error);
                return Err($crate::conformance::Failure(format!(
                    "{place}: {text} instead of {wanted}"
                )));
            }
        }
    };
}

/// Lists the cases of a group.
macro_rules! cases {
    ($group:literal: $($name:ident),* $(,)?) => {
        pub(super) fn cases() -> Vec<$crate::conformance::Case> {
            vec![$($crate::conformance::Case {
                name: concat!($group, "::", stringify!($name)),
                run: |bench| Box::pin($name(bench)),
            }),*]
        }
    };
}

pub(super) fn same_at<T: PartialEq + Debug + ?Sized>(place: &str, found: &T, wanted: &T) -> CaseResult {
    if found == wanted {
        return Ok(());
    }
    Err(Failure(format!(
        "{place}: found {} instead of {}",
        brief(&found),
        brief(&wanted)
    )))
}

/// A debug form that stays readable when values have megabytes.
pub(super) fn brief<T: Debug>(value: &T) -> String {
    let text = format!("{value:?}");
    if text.chars().count() <= 400 {
        text
    } else {
        text.chars().take(400).chain("…".chars()).collect()
    }
}
