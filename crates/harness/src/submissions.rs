//! Submissions and the inbox (spec 6): admission, placement at boundaries, withdrawal.

mod admit;
pub(crate) mod boundary;
mod draft;
mod inbox;
mod withdraw;

pub(crate) use admit::admit_valid;
pub use admit::{admit, admit_into_new_conversation, admit_into_new_root};
pub use draft::{InputDraft, SubmissionDraft, WhenBusy, WriteDraft};
pub(crate) use inbox::Floor;
pub(crate) use withdraw::withdraw_inputs;
pub use withdraw::{AbortOutcome, abort_submission};
