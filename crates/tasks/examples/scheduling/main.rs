//! What scheduling costs beside ever more tasks: `cargo run --release -p tidehold-tasks --example scheduling`, or
//! `scripts/bench scheduling`. See bench/README.md.
//!
//! Both sizes of a subject are measured in turns in one run, so that only their ratio counts. Exits with 1 when a bar is missed.

// A clock is what this is about.
#![allow(clippy::disallowed_methods)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a measurement says so by failing"
)]

mod mirror;
mod session;

use std::process::ExitCode;

/// Interleaved repetitions of each size; the first warms up and is dropped.
const REPETITIONS: usize = 15;

/// One subject at two sizes.
struct Figure {
    what: &'static str,
    sizes: [usize; 2],
    /// Microseconds: the minimum and the median of the repetitions.
    min: [f64; 2],
    median: [f64; 2],
    /// The most that the ratio of the minima may be.
    bar: Option<f64>,
}

/// Measures both sizes in turns, in an order that turns around. `run(0 or 1)` answers microseconds.
fn interleaved(
    what: &'static str,
    sizes: [usize; 2],
    bar: Option<f64>,
    mut run: impl FnMut(usize) -> f64,
) -> Figure {
    let mut times = [Vec::new(), Vec::new()];
    for repetition in 0..=REPETITIONS {
        let order = if repetition.is_multiple_of(2) {
            [0, 1]
        } else {
            [1, 0]
        };
        for side in order {
            let time = run(side);
            if repetition > 0 {
                times[side].push(time);
            }
        }
    }
    for times in &mut times {
        times.sort_by(f64::total_cmp);
    }
    Figure {
        what,
        sizes,
        min: [times[0][0], times[1][0]],
        median: [times[0][REPETITIONS / 2], times[1][REPETITIONS / 2]],
        bar,
    }
}

impl Figure {
    fn ratio(&self) -> f64 {
        self.min[1] / self.min[0]
    }

    fn holds(&self) -> bool {
        self.bar.is_none_or(|bar| self.ratio() <= bar)
    }

    fn print(&self) {
        let bar = self.bar.map_or(String::new(), |bar| format!("≤ {bar:.1}"));
        let missed = if self.holds() { "" } else { "missed" };
        println!(
            "{:<58} {:>6} {:>9.2} {:>9.2}   {:>6} {:>9.2} {:>9.2}   {:>5.2} {:>6} {missed}",
            self.what,
            self.sizes[0],
            self.min[0],
            self.median[0],
            self.sizes[1],
            self.min[1],
            self.median[1],
            self.ratio(),
            bar
        );
    }
}

fn main() -> ExitCode {
    println!(
        "µs: minimum and median of {REPETITIONS} interleaved repetitions; the ratio is that of the minima\n"
    );
    let mut figures = mirror::measure();
    figures.extend(session::measure());
    for figure in &figures {
        figure.print();
    }
    if figures.iter().all(Figure::holds) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
