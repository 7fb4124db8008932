//! The best fetch rates under a limit per host.
//!
//! Kolobov et al., SIGIR 2019, as the nested solve of C15. At a common price every host takes the smaller of its pages'
//! demand and its limit. Hosts at their limit then have a higher price of their own.

use revisit::allocate::{Contest, DemandByPrice, LN_PRICE_LIMIT, PageTerms, meet_budget};

/// The solution for a budget under limits per host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostAllocation {
    /// Marginal value of the budget on hosts below their limits. Zero when the limits prevent spending the budget.
    pub price: f64,
    /// The hosts at their limits, by number, with their own higher prices.
    pub full_hosts: Vec<(u32, f64)>,
    /// Fetches per day of each page, in the order given.
    pub fetch_rates_per_day: Vec<f64>,
}

/// The best fetch rates for a budget per day, when the pages of a host together may spend at most `limit_per_day(host)`
/// (fetches per day, where every fetch costs 1). `hosts` holds the host of each page.
pub fn host_capped(
    demand: &impl DemandByPrice,
    pages: &[PageTerms],
    hosts: &[u32],
    limit_per_day: impl Fn(u32) -> f64,
    budget_per_day: f64,
) -> HostAllocation {
    let mut order: Vec<usize> = (0..pages.len().min(hosts.len())).collect();
    order.sort_by_key(|&i| hosts[i]);
    let contest = Contest::new(demand, order.iter().map(|&i| &pages[i]));
    // The spending of each host at a price, by host number: (host, end of its pages, spending).
    let by_host = |ln_price: f64| {
        let mut spent: Vec<(u32, usize, f64)> = Vec::new();
        for (position, (&i, rate)) in order.iter().zip(contest.rates(ln_price)).enumerate() {
            let cost = pages[i].cost * rate;
            match spent.last_mut() {
                Some((host, end, sum)) if *host == hosts[i] => (*end, *sum) = (position + 1, *sum + cost),
                _ => spent.push((hosts[i], position + 1, cost)),
            }
        }
        spent
    };
    let spending = |ln_price: f64| by_host(ln_price).iter().map(|&(host, _, sum)| sum.min(limit_per_day(host))).sum();
    let something_to_spend = budget_per_day > 0.0 && spending(f64::INFINITY) < budget_per_day;
    let ln_price =
        if something_to_spend { meet_budget(0.0, 0.25, budget_per_day, spending).high } else { f64::INFINITY };

    let mut fetch_rates_per_day = vec![0.0; pages.len()];
    let (mut full_hosts, mut free, mut start, mut left) = (Vec::new(), Vec::new(), 0, budget_per_day);
    for (host, end, sum) in by_host(ln_price) {
        let (own, limit) = (&order[start..end], limit_per_day(host));
        start = end;
        if sum <= limit {
            free.extend_from_slice(own);
            continue;
        }
        let local = Contest::new(demand, own.iter().map(|&i| &pages[i])).allocate(limit, ln_price.min(LN_PRICE_LIMIT));
        own.iter().zip(local.fetch_rates_per_day).for_each(|(&i, rate)| fetch_rates_per_day[i] = rate);
        full_hosts.push((host, local.price));
        left -= limit;
    }
    let rest = Contest::new(demand, free.iter().map(|&i| &pages[i])).allocate(left, ln_price.min(LN_PRICE_LIMIT));
    free.iter().zip(rest.fetch_rates_per_day).for_each(|(&i, rate)| fetch_rates_per_day[i] = rate);
    HostAllocation { price: rest.price, full_hosts, fetch_rates_per_day }
}
