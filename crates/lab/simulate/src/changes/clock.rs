//! Weekly cycles of activity.

const HOURS: usize = 7 * 24;

/// A weekly cycle: the speed of changes in each hour of the week, relative to the average. Day 0 is a Monday.
///
/// Time is bent, not thinned: [`WeeklyCycle::activity_days`] runs fast in busy hours, so a process that is regular in
/// it is busy in busy hours. This is exact, and works for renewal processes as well.
#[derive(Clone, Debug, PartialEq)]
pub struct WeeklyCycle {
    /// Activity, in days, from the start of the week to the start of each hour; 7 at the end.
    until: Vec<f64>,
}

impl WeeklyCycle {
    /// Office hours are 9 to 18 on all seven days. `day_to_night` is how much faster pages change then than in the rest
    /// of the day, `weekday_to_weekend` how much faster on Monday to Friday. Both positive.
    pub fn new(day_to_night: f64, weekday_to_weekend: f64) -> Self {
        let speed = |hour: usize| {
            let of_day = if (9..18).contains(&(hour % 24)) { day_to_night } else { 1.0 };
            of_day * if hour / 24 < 5 { weekday_to_weekend } else { 1.0 }
        };
        let total: f64 = (0..HOURS).map(speed).sum();
        let mut sum = 0.0;
        let mut until = vec![0.0];
        for hour in 0..HOURS {
            sum += speed(hour);
            until.push(7.0 * sum / total);
        }
        Self { until }
    }

    /// Days of average activity from day 0 to `days` (not negative).
    pub fn activity_days(&self, days: f64) -> f64 {
        let (week, hours) = ((days / 7.0).floor(), days.rem_euclid(7.0) * 24.0);
        let hour = (hours as usize).min(HOURS - 1);
        week * 7.0 + self.until[hour] + (hours - hour as f64) * (self.until[hour + 1] - self.until[hour])
    }

    /// The time at which this much activity has passed: the inverse of [`WeeklyCycle::activity_days`].
    pub fn days(&self, activity_days: f64) -> f64 {
        let (week, rest) = ((activity_days / 7.0).floor(), activity_days.rem_euclid(7.0));
        let hour = self.until.partition_point(|&until| until <= rest).clamp(1, HOURS) - 1;
        let within = (rest - self.until[hour]) / (self.until[hour + 1] - self.until[hour]);
        week * 7.0 + (hour as f64 + within) / 24.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_week_has_seven_days_and_busy_hours_more_than_their_share() {
        let cycle = WeeklyCycle::new(10.0, 3.0);
        for week in [0.0, 1.0, 9.0] {
            assert!((cycle.activity_days(7.0 * week) - 7.0 * week).abs() < 1e-9);
        }
        let weekend = 7.0 - cycle.activity_days(5.0);
        assert!((cycle.activity_days(5.0) / 5.0 / (weekend / 2.0) - 3.0).abs() < 1e-9);
        let (day, night) = (
            cycle.activity_days(12.0 / 24.0) - cycle.activity_days(11.0 / 24.0),
            cycle.activity_days(3.0 / 24.0) - cycle.activity_days(2.0 / 24.0),
        );
        assert!((day / night - 10.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn the_inverse_is_one(days in 0.0..1000.0, day_to_night in 0.1..50.0, weekday in 0.1..50.0) {
            let cycle = WeeklyCycle::new(day_to_night, weekday);
            prop_assert!((cycle.days(cycle.activity_days(days)) - days).abs() < 1e-8);
        }
    }
}
