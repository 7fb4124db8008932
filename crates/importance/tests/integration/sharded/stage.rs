//! Shards with inputs before them, worked off in batches that may crash.

use chance::{Draws, Lcg};

/// The state of a shard.
pub(crate) trait Stage: Clone {
    type Input: Clone;

    /// Processes one input. `send` takes a message and what its shard follows from.
    fn process(&mut self, input: Self::Input, send: &mut dyn FnMut(u32, Self::Input));

    /// Called at the end of each batch.
    fn finish(&mut self, _send: &mut dyn FnMut(u32, Self::Input)) {}
}

pub(crate) struct System<S: Stage> {
    pub(crate) shards: Vec<S>,
    /// Committed inputs of each shard that are not processed yet.
    waiting: Vec<Vec<S::Input>>,
    pub(crate) crashes: u32,
}

impl<S: Stage> System<S> {
    pub(crate) fn new(shards: Vec<S>) -> Self {
        let waiting = shards.iter().map(|_| Vec::new()).collect();
        Self { shards, waiting, crashes: 0 }
    }

    /// An input for the shard that this number belongs to. Shards themselves have the numbers from 0.
    pub(crate) fn put(&mut self, number: u32, input: S::Input) {
        let shard = number as usize % self.shards.len();
        self.waiting[shard].push(input);
    }

    pub(crate) fn inputs(&self) -> impl Iterator<Item = &S::Input> {
        self.waiting.iter().flatten()
    }

    /// Forgets inputs that are not yet processed.
    pub(crate) fn retain(&mut self, keep: impl Fn(&S::Input) -> bool) {
        self.waiting.iter_mut().for_each(|waiting| waiting.retain(&keep));
    }

    /// One batch of any shard that has inputs; `false` where none has.
    pub(crate) fn batch(&mut self, chance: &mut Lcg) -> bool {
        let busy: Vec<usize> = (0..self.shards.len()).filter(|shard| !self.waiting[*shard].is_empty()).collect();
        if busy.is_empty() {
            return false;
        }
        let shard = busy[chance.below(busy.len() as u32) as usize];
        let size = 1 + chance.below(self.waiting[shard].len() as u32 * 2);
        let (mut state, mut waiting) = (self.shards[shard].clone(), self.waiting[shard].clone());
        let mut sent = Vec::new();
        for _ in 0..size.min(waiting.len() as u32) {
            let input = waiting.swap_remove(chance.below(waiting.len() as u32) as usize);
            state.process(input, &mut |number, message| sent.push((number, message)));
        }
        state.finish(&mut |number, message| sent.push((number, message)));
        if chance.below(5) == 0 {
            self.crashes += 1;
            return true;
        }
        self.shards[shard] = state;
        self.waiting[shard] = waiting;
        sent.into_iter().for_each(|(number, message)| self.put(number, message));
        true
    }
}
