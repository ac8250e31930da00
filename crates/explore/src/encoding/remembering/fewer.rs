//! Which steps are taken from a state: all of them, or those of an ample set ([`crate::reductions::ample`]) or a stubborn one
//! ([`crate::reductions::stubborn`]).

use std::sync::Arc;

use super::{Halt, Home, Remembering};
use crate::encoding::layout::{Bits, and};
use crate::reductions::ample::Crowd;
use crate::reductions::stubborn::{Plan, Taken, choose};
use crate::store::Address;

impl<H: Home, const W: usize> Remembering<'_, '_, '_, H, W> {
    /// Visits all successors of a state, or those of an ample set.
    #[inline]
    pub fn successors(
        &mut self,
        record: Address,
        words: &[u64; W],
        visit: &mut impl FnMut([u64; W], H::Sum),
    ) -> Result<(), Halt> {
        self.refresh()?;
        self.count()?;
        if self.judge.judges_moments() {
            self.moment(record, words);
        }
        let (mut steps, mut done, mut crowd) = (0, true, Crowd::default());
        self.dropped = false;
        if self.m.stubborn.is_some() {
            steps = self.stubborn_steps(record, words, visit)?;
            if steps > 0 {
                self.stepper.notes.stubborn = true;
                self.judge.transitions += steps;
                return Ok(());
            }
        }
        if self.futures.is_some() {
            for thread in 0..self.threads.len() {
                let place = self.learnt(words, thread);
                done &= place.done;
                crowd.add(place.future);
            }
            let ample = self.ample(words, crowd)?;
            for thread in ample.map_or(0..self.threads.len(), |thread| thread..thread + 1) {
                let key = and(words, &self.threads[thread].place(words).depends);
                steps += self.take_steps(record, words, thread, &key, None, visit)?;
            }
            if ample.is_some() {
                self.stepper.notes.ample = true;
                self.judge.transitions += steps;
                return Ok(());
            }
        } else {
            // One look at each thread is enough.
            for thread in 0..self.threads.len() {
                let place = self.learnt(words, thread);
                done &= place.done;
                let key = and(words, &place.depends);
                steps += self.take_steps(record, words, thread, &key, None, visit)?;
            }
        }
        self.judge.transitions += steps;
        if done || steps == 0 {
            // A state whose steps are all left out is not stuck.
            let steps = steps as usize + usize::from(self.dropped);
            self.decode(words);
            self.judge.look(record, &self.state, steps, &mut self.stepper);
        }
        Ok(())
    }

    /// A thread whose next steps are an ample set.
    #[inline]
    fn ample(&mut self, words: &[u64; W], crowd: Crowd) -> Result<Option<usize>, Halt> {
        for thread in 0..self.threads.len() {
            let place = self.threads[thread].place(words);
            let alone = !place.next.meets(crowd.without(place.future)) || self.careless;
            if !place.done && alone {
                let key = and(words, &place.depends);
                let entry = self.entry(words, thread, &key)?;
                if entry.about.forward && entry.steps() > 0 && !entry.goes_wrong() {
                    return Ok(Some(thread));
                }
            }
        }
        Ok(None)
    }

    /// Takes the steps of a stubborn set, if there is one that is not everything; says how many there are.
    fn stubborn_steps(
        &mut self,
        record: Address,
        words: &[u64; W],
        visit: &mut impl FnMut([u64; W], H::Sum),
    ) -> Result<u64, Halt> {
        let plans: Vec<Arc<Plan>> = (0..self.threads.len()).map(|thread| self.planned(words, thread)).collect();
        let Some(taken) = choose(&plans) else { return Ok(0) };
        let mut steps = 0;
        for (thread, taken) in plans.into_iter().zip(taken).enumerate() {
            if taken.1 != Taken::Nothing {
                let key = and(words, &self.learnt(words, thread).depends);
                steps += self.take_steps(record, words, thread, &key, Some(&taken), visit)?;
            }
        }
        Ok(steps)
    }

    /// What a thread has before it.
    fn planned(&mut self, words: &[u64; W], thread: usize) -> Arc<Plan> {
        let number = self.threads[thread].part.get(words) as usize;
        if let Some(Some(plan)) = self.threads[thread].plans.get(number) {
            return Arc::clone(plan);
        }
        self.decode(words);
        let order = self.m.own_order.expect("stubborn sets are for orders of a program's own");
        let plan = Arc::new(self.stepper.plan(order, &self.state, thread));
        let plans = &mut self.threads[thread].plans;
        plans.resize(plans.len().max(number + 1), None);
        plans[number] = Some(Arc::clone(&plan));
        plan
    }
}
