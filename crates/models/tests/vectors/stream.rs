use crate::reader::Tally;
pub fn run(_tally: &mut Tally) {}
