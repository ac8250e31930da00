//! Statics that each execution has anew ([`lazy_static!`](crate::lazy_static!)).

use std::any::Any;
use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::Location;
use std::rc::Rc;

use crate::rt;
use crate::word::Word;

/// A static that is made when it is used first. What it holds stays, as in `std`: it is not dropped.
#[derive(Debug)]
pub struct Lazy<T> {
    #[doc(hidden)]
    pub init: fn() -> T,
    #[doc(hidden)]
    pub _p: PhantomData<fn(T)>,
}

impl<T: 'static> Lazy<T> {
    /// The value.
    #[track_caller]
    pub fn get(&self) -> &'static T {
        let place = Location::caller();
        let address = std::ptr::from_ref(self) as usize;
        let word = Word::of(rt::with(|state| state.make_static(address, place)));
        word.once(place, || {
            rt::with(|state| state.making_lazy += 1);
            let value: &'static T = Box::leak(Box::new((self.init)()));
            rt::with(|state| {
                state.making_lazy -= 1;
                state.lazy.insert(address, Rc::new(value) as Rc<dyn Any>);
            });
        });
        let value =
            rt::with(|state| state.lazy.get(&address).and_then(|value| value.downcast_ref::<&'static T>().copied()));
        match value {
            Some(value) => value,
            None => rt::fail("a lazy static is used while it is made, by a panic perhaps".to_owned(), place),
        }
    }
}

impl<T: 'static> Deref for Lazy<T> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        self.get()
    }
}
