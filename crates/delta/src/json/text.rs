//! Building shared text.

use std::sync::Arc;

use super::Text;

/// One text behind the other, copied once.
///
/// An `Arc<str>` can otherwise only be made from text that already lies in one piece, which is a second allocation and a
/// second copy: more than half of what it costs to append to a text of a megabyte.
#[expect(
    unsafe_code,
    reason = "the standard library has no safe way from bytes to shared text"
)]
pub(crate) fn joined(front: &str, back: &str) -> Text {
    let mut bytes = Arc::<[u8]>::new_uninit_slice(front.len() + back.len());
    let Some(slots) = Arc::get_mut(&mut bytes) else {
        // Nobody else knows of the new allocation.
        return [front, back].concat().into();
    };
    let start = slots.as_mut_ptr().cast::<u8>();
    // SAFETY: `slots` is new, so it overlaps neither text, and it is as long as both together: all of it is written, and
    // nothing behind it. Two texts one behind the other are valid UTF-8. `str` has the layout of `[u8]`, and the pointer
    // that becomes one has its length.
    unsafe {
        front.as_ptr().copy_to_nonoverlapping(start, front.len());
        back.as_ptr()
            .copy_to_nonoverlapping(start.add(front.len()), back.len());
        Arc::from_raw(Arc::into_raw(bytes.assume_init()) as *const str)
    }
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn texts_are_joined() {
        let texts = ["", "a", "é😀", &"日本".repeat(1000)];
        for front in texts {
            for back in texts {
                let text = joined(front, back);
                assert_eq!(&*text, [front, back].concat());
                assert_eq!(std::str::from_utf8(text.as_bytes()), Ok(&*text));
            }
        }
    }
}
