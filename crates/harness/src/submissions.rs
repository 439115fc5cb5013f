//! Submissions and the inbox (spec 6): admission, placement at boundaries, withdrawal.

mod admit;
pub(crate) mod boundary;
mod draft;
mod inbox;
mod withdraw;

pub use admit::{admit, admit_into_new_conversation, admit_into_new_root};
pub(crate) use admit::{admit_valid, admit_valid_into_new};
pub use draft::{InputDraft, SubmissionDraft, WhenBusy, WriteDraft};
pub(crate) use inbox::{Floor, entry_len};
pub(crate) use withdraw::withdraw_inputs;
pub use withdraw::{AbortOutcome, abort_submission};
