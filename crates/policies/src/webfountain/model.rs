//! The bucket × period model.
//!
//! A bucket holds pages with one change rate; time runs in periods of equal length. Fetching a page with a copy makes
//! that copy current at the end of the period. A copy `a` periods old is obsolete with probability 1 - q^a, q =
//! e^-rate. The program minimises the weighted number of obsolete and missing copies at the ends of all periods, under
//! a capacity for each.
//!
//! Edwards, McCurley & Tomlin (WWW10, 2001) have bilinear terms here, because fetching a random page of a bucket helps
//! only if it is obsolete. Separating pages by age makes the same model a linear program. A cohort is a number of pages
//! last fetched at the same time, either before the first period or in one of the periods. The variables are the
//! numbers of pages of each cohort fetched in each period. Their objective is the saving compared with never fetching
//! them again. So all constraints are upper bounds, and fetching nothing is feasible.

use microlp::{ComparisonOp, OptimizationDirection, Problem, Variable};
use thiserror::Error;

/// Pages of one age.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cohort {
    /// Periods since their last fetch, at the start of the first period.
    pub age_periods: f64,
    /// Number of pages; need not be whole.
    pub pages: f64,
}

/// Pages of one change rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Bucket {
    /// Expected changes per period and page; not negative.
    pub change_rate_per_period: f64,
    /// Cost of one obsolete page; not negative.
    pub weight: f64,
    /// Capacity that one fetch takes; positive.
    pub cost: f64,
    /// Its pages, by age.
    pub cohorts: Vec<Cohort>,
}

/// One of the planned periods.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period {
    /// Maximum total cost of its fetches; not negative.
    pub capacity: f64,
    /// Cost factor of an obsolete page at its end; not negative.
    pub weight: f64,
    /// Number of new pages found before its end.
    pub arrivals: f64,
}

/// Pages never fetched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewPages {
    /// Their number at the start of the first period.
    pub waiting: f64,
    /// Cost of one missing page; not negative.
    pub weight: f64,
    /// Capacity that its first fetch takes; positive.
    pub cost: f64,
    /// Index of the bucket that a page joins after its first fetch.
    pub bucket: usize,
}

/// The inputs of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct WebFountainModel {
    /// The known pages.
    pub buckets: Vec<Bucket>,
    /// The periods to plan, in order.
    pub periods: Vec<Period>,
    /// The pages never fetched, if they are planned too.
    pub new_pages: Option<NewPages>,
}

/// Numbers of pages to fetch.
#[derive(Clone, Debug, PartialEq)]
pub struct WebFountainPlan {
    /// The weighted number of obsolete and missing pages, summed over the ends of all periods.
    pub objective: f64,
    /// By bucket and period.
    pub fetches: Vec<Vec<f64>>,
    /// First fetches of new pages, by period.
    pub new_fetches: Vec<f64>,
}

/// Why there is no plan.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SolveError {
    /// A number of the model is out of its range.
    #[error("{0} is {1}; it must be finite and not negative, a cost positive")]
    InvalidNumber(&'static str, f64),
    /// The bucket for new pages does not exist.
    #[error("new pages go to bucket {bucket}, but there are {buckets}; choose one below")]
    NoSuchBucket {
        /// Index that was asked for.
        bucket: usize,
        buckets: usize,
    },
    /// The solver failed, which happens on ill-conditioned models.
    #[error("the solver found no plan: {0}; fall back on the myopic plan")]
    Solver(String),
}

impl WebFountainModel {
    /// The best plan.
    pub fn solve(&self) -> Result<WebFountainPlan, SolveError> {
        self.check()?;
        let mut program = Program {
            problem: Problem::new(OptimizationDirection::Maximize),
            used: vec![Vec::new(); self.periods.len()],
            fetches: Vec::new(),
        };
        let (idle_cost, new_variables) = self.add_new_pages(&mut program);
        let mut idle_cost = idle_cost;
        for (index, bucket) in self.buckets.iter().enumerate() {
            let joining = self.new_pages.filter(|new| new.bucket == index).map(|_| new_variables.as_slice());
            idle_cost += self.add_bucket(&mut program, index, bucket, joining.unwrap_or_default());
        }
        for (used, period) in program.used.iter().zip(&self.periods) {
            program.problem.add_constraint(used, ComparisonOp::Le, period.capacity);
        }
        let failed = |error: microlp::Error| SolveError::Solver(error.to_string());
        let outcome = program.problem.solve().map_err(failed)?;
        let solution = outcome.into_solution().map_err(|_| SolveError::Solver("it was interrupted".to_owned()))?;
        let mut fetches = vec![vec![0.0; self.periods.len()]; self.buckets.len()];
        for &(bucket, period, variable) in &program.fetches {
            fetches[bucket][period] += solution.var_value(variable).max(0.0);
        }
        let new_fetches = self.periods.iter().enumerate();
        let new_fetches = new_fetches
            .map(|(period, _)| new_variables.get(period).map_or(0.0, |&variable| solution.var_value(variable).max(0.0)))
            .collect();
        Ok(WebFountainPlan { objective: idle_cost - solution.objective(), fetches, new_fetches })
    }

    /// Period by period, fetches the cohorts with the greatest crawl value (weight × U / cost at the age they will
    /// have), new pages first. A good plan that needs no solver.
    pub fn myopic(&self) -> Result<WebFountainPlan, SolveError> {
        self.check()?;
        let mut cohorts: Vec<Vec<Cohort>> = self.buckets.iter().map(|bucket| bucket.cohorts.clone()).collect();
        let mut waiting = self.new_pages.map_or(0.0, |new| new.waiting);
        let mut plan =
            WebFountainPlan { objective: 0.0, fetches: vec![Vec::new(); self.buckets.len()], new_fetches: Vec::new() };
        for period in &self.periods {
            let mut room = period.capacity;
            let mut fetched = vec![0.0; self.buckets.len()];
            waiting += period.arrivals;
            let mut first_fetches = 0.0;
            if let Some(new) = self.new_pages {
                first_fetches = f64::min(waiting, room / new.cost);
                waiting -= first_fetches;
                room -= first_fetches * new.cost;
                plan.objective += period.weight * new.weight * waiting;
            }
            let mut order: Vec<(f64, usize, usize)> = Vec::new();
            for (b, bucket) in self.buckets.iter().enumerate() {
                order.extend(
                    cohorts[b].iter().enumerate().map(|(c, cohort)| (bucket.worth(cohort.age_periods + 1.0), b, c)),
                );
            }
            order.sort_by(|x, y| y.0.total_cmp(&x.0));
            for (_, b, c) in order {
                let cohort = &mut cohorts[b][c];
                let taken = f64::min(cohort.pages, room / self.buckets[b].cost);
                cohort.pages -= taken;
                fetched[b] += taken;
                room -= taken * self.buckets[b].cost;
            }
            for (b, bucket) in self.buckets.iter().enumerate() {
                cohorts[b].retain(|cohort| cohort.pages > 0.0);
                cohorts[b].iter_mut().for_each(|cohort| cohort.age_periods += 1.0);
                plan.objective += cohorts[b]
                    .iter()
                    .map(|left| period.weight * left.pages * bucket.obsolete(left.age_periods))
                    .sum::<f64>();
                let joined = if self.new_pages.is_some_and(|new| new.bucket == b) { first_fetches } else { 0.0 };
                cohorts[b].push(Cohort { age_periods: 0.0, pages: fetched[b] + joined });
                plan.fetches[b].push(fetched[b]);
            }
            plan.new_fetches.push(first_fetches);
        }
        Ok(plan)
    }

    /// Adds the terms of one bucket. Returns its cost when nothing is ever fetched.
    fn add_bucket(&self, program: &mut Program, index: usize, bucket: &Bucket, joining: &[Variable]) -> f64 {
        let periods = self.periods.len();
        let mut idle_cost = 0.0;
        // By period, the fetches that begin a cohort, negative: no more can leave a cohort than joined it.
        let mut joined: Vec<Vec<(Variable, f64)>> = vec![Vec::new(); periods];
        for (period, &variable) in joining.iter().enumerate() {
            joined[period].push((variable, -1.0));
        }
        for cohort in bucket.cohorts.iter().filter(|cohort| cohort.pages > 0.0) {
            idle_cost += cohort.pages * self.obsolete_cost(bucket, cohort.age_periods, 0, periods);
            let leaving = self.add_fetches(program, index, bucket, cohort.age_periods, 0, &mut joined);
            program.problem.add_constraint(leaving, ComparisonOp::Le, cohort.pages);
        }
        for born in 0..periods {
            let mut row = self.add_fetches(program, index, bucket, 0.0, born + 1, &mut joined);
            if !row.is_empty() {
                row.append(&mut joined[born]);
                program.problem.add_constraint(row, ComparisonOp::Le, 0.0);
            }
        }
        idle_cost
    }

    /// The fetches of a cohort that is `age_periods` old at the start of period `from`, one variable per period from
    /// there on.
    fn add_fetches(
        &self,
        program: &mut Program,
        index: usize,
        bucket: &Bucket,
        age_periods: f64,
        from: usize,
        joined: &mut [Vec<(Variable, f64)>],
    ) -> Vec<(Variable, f64)> {
        let periods = self.periods.len();
        (from..periods)
            .map(|period| {
                let late_periods = age_periods + (period - from) as f64;
                // The cost of staying from here on, minus the cost of a fresh copy after this period.
                let saved = self.obsolete_cost(bucket, late_periods, period, periods)
                    - self.obsolete_cost(bucket, 0.0, period + 1, periods);
                let variable = program.problem.add_var(saved, (0.0, f64::INFINITY));
                program.used[period].push((variable, bucket.cost));
                program.fetches.push((index, period, variable));
                joined[period].push((variable, -1.0));
                (variable, 1.0)
            })
            .collect()
    }

    /// Adds the first fetches of new pages, one variable per period. Also returns the cost of fetching none.
    fn add_new_pages(&self, program: &mut Program) -> (f64, Vec<Variable>) {
        let Some(new) = self.new_pages else { return (0.0, Vec::new()) };
        let missing_cost =
            |from: usize| self.periods[from..].iter().map(|period| period.weight * new.weight).sum::<f64>();
        let (mut idle_cost, mut known, mut variables) = (new.waiting * missing_cost(0), new.waiting, Vec::new());
        let mut taken = Vec::new();
        for (index, period) in self.periods.iter().enumerate() {
            let stale_cost = self.obsolete_cost(&self.buckets[new.bucket], 0.0, index + 1, self.periods.len());
            let variable = program.problem.add_var(missing_cost(index) - stale_cost, (0.0, f64::INFINITY));
            program.used[index].push((variable, new.cost));
            idle_cost += period.arrivals * missing_cost(index);
            known += period.arrivals;
            taken.push((variable, 1.0));
            program.problem.add_constraint(&taken, ComparisonOp::Le, known);
            variables.push(variable);
        }
        (idle_cost, variables)
    }

    /// The cost, up to period `to`, of a page of the bucket that is `age_periods` old at the start of period `from` and
    /// is not fetched.
    fn obsolete_cost(&self, bucket: &Bucket, age_periods: f64, from: usize, to: usize) -> f64 {
        let ages = (from..to).map(|period| age_periods + (period - from + 1) as f64);
        ages.zip(&self.periods[from.min(to)..to]).map(|(age, period)| period.weight * bucket.obsolete(age)).sum()
    }

    fn check(&self) -> Result<(), SolveError> {
        let mut numbers = Vec::new();
        for bucket in &self.buckets {
            numbers.push(("a bucket's change rate", bucket.change_rate_per_period, false));
            numbers.push(("a bucket's weight", bucket.weight, false));
            numbers.push(("a bucket's cost", bucket.cost, true));
            for cohort in &bucket.cohorts {
                numbers.push(("a cohort's age", cohort.age_periods, false));
                numbers.push(("a cohort's number of pages", cohort.pages, false));
            }
        }
        for period in &self.periods {
            numbers.push(("a period's capacity", period.capacity, false));
            numbers.push(("a period's weight", period.weight, false));
            numbers.push(("a period's arrivals", period.arrivals, false));
        }
        if let Some(new) = self.new_pages {
            numbers.push(("the number of new pages", new.waiting, false));
            numbers.push(("the weight of new pages", new.weight, false));
            numbers.push(("the cost of new pages", new.cost, true));
            if new.bucket >= self.buckets.len() {
                return Err(SolveError::NoSuchBucket { bucket: new.bucket, buckets: self.buckets.len() });
            }
        }
        let bad = |&(_, number, positive): &(&str, f64, bool)| {
            !number.is_finite() || number < 0.0 || (positive && number == 0.0)
        };
        numbers
            .iter()
            .find(|entry| bad(entry))
            .map_or(Ok(()), |&(name, number, _)| Err(SolveError::InvalidNumber(name, number)))
    }
}

/// The linear program under construction.
struct Program {
    problem: Problem,
    /// By period, the cost of fetches.
    used: Vec<Vec<(Variable, f64)>>,
    /// Bucket and period of each variable.
    fetches: Vec<(usize, usize, Variable)>,
}

impl Bucket {
    /// Probability that a copy of this age is obsolete.
    fn changed(&self, age_periods: f64) -> f64 {
        -(-self.change_rate_per_period * age_periods).exp_m1()
    }

    /// Cost of one page of this age.
    fn obsolete(&self, age_periods: f64) -> f64 {
        self.weight * self.changed(age_periods)
    }

    /// weight × U / cost.
    fn worth(&self, age_periods: f64) -> f64 {
        if self.change_rate_per_period == 0.0 {
            return 0.0;
        }
        let x = self.change_rate_per_period * age_periods;
        self.weight * revisit::kernels::binary(x) / self.change_rate_per_period / self.cost
    }
}
