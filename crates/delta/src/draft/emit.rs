//! From the overlay to operations.
//!
//! A container's own operations come before those inside its children, so child paths use final
//! indices and every operation finds what its predecessors left.

use std::ops::Range;

use crate::draft::array_edits::{ArrayEdits, Piece};
use crate::draft::overlay::{Member, Node, Overlay};
use crate::draft::text::text_ops;
use crate::{Array, Json, Op, Path, Segment};

/// The longest batch; a longer one becomes one replacement.
pub(super) const MAX_OPS: usize = 4096;
/// So many touched elements, with at most one untouched between two of them, are a dense region.
const DENSE: usize = 256;

/// The batch that makes `value` of `base`.
pub(super) fn emit(overlay: &Overlay, base: &Json, value: &Json) -> Vec<Op> {
    let mut out = Vec::new();
    if let Some(root) = &overlay.root {
        emit_node(root, base, value, &mut Path::new(), &mut out);
    }
    if out.len() > MAX_OPS {
        vec![Op::Replace(value.clone())]
    } else {
        out
    }
}

fn emit_node(node: &Node, base: &Json, value: &Json, path: &mut Path, out: &mut Vec<Op>) {
    match node {
        Node::Placed => changed(base, value, path, out),
        Node::Object(members) => {
            let start = out.len();
            for (key, member) in members {
                let before = out.len();
                path.push(Segment::Key(key.clone()));
                emit_member(member, base.get(key), value.get(key), path, out);
                let reserved = path.pop().is_some_and(|segment| segment.is_reserved());
                if reserved && out.len() > before {
                    // No path may contain this key, so the object around it is sent whole.
                    out.truncate(start);
                    out.push(whole(path, value));
                    return;
                }
            }
        }
        Node::Array(edits) => {
            if let (Json::Array(base), Json::Array(value)) = (base, value) {
                emit_structure(edits, base, value, path, out);
                emit_elements(edits, base, value, path, out);
            }
        }
    }
}

fn emit_member(
    member: &Member,
    base: Option<&Json>,
    value: Option<&Json>,
    path: &mut Path,
    out: &mut Vec<Op>,
) {
    match (member, base, value) {
        (Member::Removed, Some(_), _) => out.push(Op::Delete(path.clone())),
        (Member::Readded, base, Some(value)) => {
            // Removing first gives the replica the same member order.
            if base.is_some() {
                out.push(Op::Delete(path.clone()));
            }
            out.push(whole(path, value));
        }
        (Member::Edited(Some(node)), Some(base), Some(value)) => emit_node(node, base, value, path, out),
        (Member::Edited(Some(_)), None, Some(value)) => out.push(whole(path, value)),
        _ => {}
    }
}

fn emit_structure(edits: &ArrayEdits, base: &Array, value: &Array, path: &Path, out: &mut Vec<Op>) {
    if edits.is_reordered() {
        emit_reordering(edits, base, value, path, out);
    } else {
        emit_gaps(edits, base, value, path, out);
    }
}

/// One splice per gap between kept runs, left to right: what stands left of it is final already.
fn emit_gaps(edits: &ArrayEdits, base: &Array, value: &Array, path: &Path, out: &mut Vec<Op>) {
    let mut hunk = |kept: usize, next: usize, fresh: Range<usize>| {
        if kept < next || !fresh.is_empty() {
            out.push(splice(
                path,
                fresh.start,
                next - kept,
                value.slice(fresh.start, fresh.end),
            ));
        }
    };
    // Base elements dealt with, and the present elements that follow the last kept run.
    let mut kept = 0;
    let mut fresh = 0..0;
    for piece in &edits.pieces {
        match *piece {
            Piece::Fresh { len } => fresh.end += len,
            Piece::Kept { from, len } => {
                hunk(kept, from, fresh.clone());
                kept = from + len;
                fresh = fresh.end + len..fresh.end + len;
            }
        }
    }
    hunk(kept, base.len(), fresh);
}

/// Removals from the end backwards, so that none shifts the next; one move of what is kept; insertions left to right, so
/// that each finds its final place.
fn emit_reordering(edits: &ArrayEdits, base: &Array, value: &Array, path: &Path, out: &mut Vec<Op>) {
    let mut kept = vec![false; base.len()];
    for (from, len) in edits.kept() {
        kept.iter_mut().skip(from).take(len).for_each(|kept| *kept = true);
    }
    let mut end = kept.len();
    for run in kept.chunk_by(PartialEq::eq).rev() {
        end -= run.len();
        if run.first() == Some(&false) {
            out.push(splice(path, end, run.len(), Array::new()));
        }
    }
    // For each base element, how many kept ones stand before it in the base.
    let mut places = Vec::with_capacity(kept.len());
    let mut before = 0_u64;
    for kept in kept {
        places.push(before);
        before += u64::from(kept);
    }
    let runs = edits.kept().map(|(from, len)| places.iter().skip(from).take(len));
    let order = runs.flatten().copied().collect();
    out.push(Op::Move(path.clone(), order));
    let mut start = 0;
    for piece in &edits.pieces {
        if let Piece::Fresh { len } = *piece {
            out.push(splice(path, start, 0, value.slice(start, start + len)));
        }
        start += piece.len();
    }
}

fn splice(path: &Path, index: usize, remove: usize, items: Array) -> Op {
    Op::Splice {
        path: path.clone(),
        index: index as u64,
        remove: remove as u64,
        items,
    }
}

fn emit_elements(edits: &ArrayEdits, base: &Array, value: &Array, path: &mut Path, out: &mut Vec<Op>) {
    let first = out.len();
    let mut touched = Vec::new();
    let mut start = 0;
    for piece in &edits.pieces {
        if let Piece::Kept { from, len } = *piece {
            let first = edits.elements.find_index(&from).unwrap_or_else(|next| next);
            let within = (first..).map_while(|at| edits.elements.get_indexed(at));
            for (&place, node) in within.take_while(|(place, _)| **place < from + len) {
                let index = start + (place - from);
                if let (Some(node), Some(base), Some(value)) = (node, base.get(place), value.get(index)) {
                    let before = out.len();
                    path.push(Segment::Index(index as u64));
                    emit_node(node, base, value, path, out);
                    path.pop();
                    if out.len() > before {
                        touched.push((index, out.len() - before));
                    }
                }
            }
        }
        start += piece.len();
    }
    if touched.len() >= DENSE && edits.is_whole(base.len()) {
        let ops = out.split_off(first);
        condense(&touched, ops, value, path, out);
    }
}

/// Sends each dense region of an array as one splice. `touched` are the elements with operations and how many each has in
/// `ops`, in the order of both.
fn condense(touched: &[(usize, usize)], ops: Vec<Op>, value: &Array, path: &Path, out: &mut Vec<Op>) {
    let mut ops = ops.into_iter();
    for stretch in touched.chunk_by(|(one, _), (next, _)| next - one <= 2) {
        let count = stretch.iter().map(|(_, ops)| ops).sum();
        let own = ops.by_ref().take(count);
        match stretch {
            [(first, _), .., (last, _)] if stretch.len() >= DENSE => {
                own.for_each(drop);
                let items = value.slice(*first, last + 1);
                out.push(splice(path, *first, items.len(), items));
            }
            _ => out.extend(own),
        }
    }
}

/// The operations for a place whose value was written over.
fn changed(before: &Json, after: &Json, path: &Path, out: &mut Vec<Op>) {
    match (before, after) {
        _ if before.same(after) => {}
        (Json::String(before), Json::String(after)) if !path.is_empty() => {
            text_ops(path, before, after, out);
        }
        _ if before == after => {}
        _ => out.push(whole(path, after)),
    }
}

fn whole(path: &Path, value: &Json) -> Op {
    if path.is_empty() {
        Op::Replace(value.clone())
    } else {
        Op::Set(path.clone(), value.clone())
    }
}
