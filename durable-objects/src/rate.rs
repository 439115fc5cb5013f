//! The rate limit of one session: a token bucket in its object's memory.
//!
//! In memory on purpose: a row for each request would cost more than most requests. Eviction forgets it, which only
//! helps a caller who has been silent for a while anyway.

/// Requests left, refilled evenly over the minute.
#[derive(Clone, Debug, PartialEq)]
pub struct RateLimit {
    /// Requests a minute, also the most that can come at once.
    per_minute: f64,
    tokens: f64,
    at_ms: u64,
}

impl RateLimit {
    pub fn new(per_minute: u64, now_ms: u64) -> Self {
        let per_minute = per_minute as f64;
        Self {
            per_minute,
            tokens: per_minute,
            at_ms: now_ms,
        }
    }

    /// Takes one request, or says after how many seconds the next one is allowed.
    pub fn take(&mut self, now_ms: u64) -> Result<(), u32> {
        let per_ms = self.per_minute / 60_000.0;
        let passed = now_ms.saturating_sub(self.at_ms) as f64;
        self.tokens = (self.tokens + passed * per_ms).min(self.per_minute);
        self.at_ms = now_ms.max(self.at_ms);
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            return Ok(());
        }
        Err((((1.0 - self.tokens) / per_ms / 1000.0).ceil() as u32).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_of_requests_then_one_at_a_time() {
        let mut limit = RateLimit::new(60, 0);
        assert!((0..60).all(|_| limit.take(0).is_ok()));
        assert_eq!(limit.take(0), Err(1));
        assert_eq!(limit.take(1000), Ok(()));
        assert_eq!(limit.take(1500), Err(1));
        // A clock that steps back grants nothing and breaks nothing.
        assert_eq!(limit.take(0), Err(1));
        assert!((0..60).all(|_| limit.take(120_000).is_ok()));
        assert_eq!(RateLimit::new(1, 0).take(0), Ok(()));
        let mut slow = RateLimit::new(1, 0);
        assert_eq!((slow.take(0), slow.take(0)), (Ok(()), Err(60)));
    }
}
