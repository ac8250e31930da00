//! Shared memory: the locations of a test, their initial values, their addresses.
//!
//! Tests without pointers have plain locations. In the others memory is one array, so that an access through a register can reach every
//! location: location number `i` has the address `(i + 1) * cyrano_ir::WORD`, and the word at address 0 is a gap.

use std::collections::BTreeMap;

use cyrano_ir::{Addr, ArrayId, Expr, IntType, LocId, LocalExpr, Location, SharedArray, Span, Ty, UnOp};

use crate::ast::{Name, Value};

/// The integer type of a word that nothing declares.
pub(crate) const WORD: IntType = IntType { bits: 32, signed: true };

/// The locations of a test.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// In the order in which they were first named.
    pub(crate) cells: Vec<Cell>,
    numbers: BTreeMap<String, usize>,
    /// The arrays: the number of the first element, and how many there are.
    lens: BTreeMap<usize, usize>,
    /// Objects that are indexed on their own, by their first cell.
    indexed: Vec<usize>,
    /// Whether any address is a value or is computed.
    pub(crate) pointers: bool,
}

/// One location.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) name: String,
    pub(crate) init: i128,
    pub(crate) span: Span,
    /// Its type, once it is known.
    pub(crate) ty: Option<IntType>,
    /// Whether its address is a value somewhere.
    pub(crate) taken: bool,
    /// Whether it holds an address, as far as declarations say.
    pub(crate) pointer: bool,
}

impl Layout {
    /// The number of the location of this name, which is made if need be.
    pub(crate) fn number(&mut self, name: &Name) -> usize {
        if let Some(number) = self.numbers.get(&name.text) {
            return *number;
        }
        let number = self.cells.len();
        self.numbers.insert(name.text.clone(), number);
        let (name, span) = (name.text.clone(), name.span);
        self.cells.push(Cell { name, init: 0, span, ty: None, taken: false, pointer: false });
        number
    }

    /// The number of the first element of an array, which is made if need be.
    pub(crate) fn array(&mut self, name: &Name, len: usize) -> usize {
        if let Some(number) = self.numbers.get(&name.text) {
            return *number;
        }
        let first = self.cells.len();
        for at in 0..len {
            self.number(&Name { text: format!("{}[{at}]", name.text), span: name.span });
        }
        self.numbers.insert(name.text.clone(), first);
        self.lens.insert(first, len);
        first
    }

    /// The cells of the object whose first cell this is.
    pub(crate) fn extent(&self, first: usize) -> std::ops::Range<usize> {
        first..first + self.lens.get(&first).copied().unwrap_or(1)
    }

    /// The name of the object whose first cell this is.
    pub(crate) fn name(&self, first: usize) -> &str {
        let name = self.cells[first].name.as_str();
        if self.lens.contains_key(&first) { name.trim_end_matches("[0]") } else { name }
    }

    /// The object whose first cell this is as an array of its own.
    pub(crate) fn object(&mut self, first: usize) -> ArrayId {
        self.pointers = true;
        let at = self.indexed.iter().position(|known| *known == first).unwrap_or_else(|| {
            self.indexed.push(first);
            self.indexed.len() - 1
        });
        ArrayId::new(at + 1)
    }

    /// The number of a location that is there already.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// The address of a location, which from now on is a value.
    pub(crate) fn address(&mut self, name: &Name) -> i128 {
        let number = self.number(name);
        self.pointers = true;
        for cell in self.extent(number) {
            self.cells[cell].taken = true;
        }
        address(number)
    }

    /// A value of an initial state as a number, and whether it is an address.
    pub(crate) fn value(&mut self, value: &Value) -> (i128, bool) {
        match value {
            Value::Int(value) => (*value, false),
            Value::Address(name) => (self.address(name), true),
        }
    }

    /// Gives a location, or an element of an array, its initial value.
    pub(crate) fn initialise(&mut self, name: &Name, element: usize, value: &Value) {
        let (value, _) = self.value(value);
        let number = self.number(name) + element;
        let ty = self.cells[number].ty.unwrap_or(WORD);
        self.cells[number].init = constant(ty, value);
    }

    /// An access to a location of fixed address. The number is replaced by [`Layout::id`] in the end.
    pub(crate) fn fixed(number: usize) -> Addr {
        Addr::Fixed(LocId::new(number))
    }

    /// An access through a pointer.
    pub(crate) fn through(&mut self, pointer: LocalExpr) -> Addr {
        self.pointers = true;
        Addr::Indexed { array: ArrayId(0), index: Expr::unary(UnOp::Target, pointer) }
    }

    /// The id of a location in the finished program.
    pub(crate) fn id(&self, number: usize) -> LocId {
        LocId::new(number + usize::from(self.pointers))
    }

    /// The locations whose address is a value somewhere.
    pub(crate) fn taken(&self) -> Vec<LocId> {
        (0..self.cells.len()).filter(|number| self.cells[*number].taken).map(|number| self.id(number)).collect()
    }

    /// The tables of the finished program.
    pub(crate) fn tables(&self) -> (Vec<Location>, Vec<SharedArray>) {
        let cells = self.cells.iter().map(|cell| Location {
            name: cell.name.clone(),
            init: cell.init,
            ty: if cell.pointer { Ty::Pointer } else { Ty::Int },
            span: cell.span,
        });
        if !self.pointers {
            return (cells.collect(), Vec::new());
        }
        let gap = Location { name: "%null".to_owned(), init: 0, ty: Ty::Gap, span: Span::default() };
        let locations: Vec<Location> = std::iter::once(gap).chain(cells).collect();
        let len = u32::try_from(locations.len()).unwrap_or(u32::MAX);
        let mut arrays = vec![SharedArray { name: "memory".to_owned(), base: LocId(0), len, headers: false }];
        for first in &self.indexed {
            let len = u32::try_from(self.extent(*first).len()).unwrap_or(u32::MAX);
            let name = self.name(*first).to_owned();
            arrays.push(SharedArray { name, base: self.id(*first), len, headers: false });
        }
        (locations, arrays)
    }
}

/// A constant of a type: whatever is not 0 is true, other types wrap.
pub(crate) fn constant(ty: IntType, value: i128) -> i128 {
    if ty.bits == 1 { (value != 0).into() } else { ty.wrap(value) }
}

/// The address of location number `number`.
pub(crate) fn address(number: usize) -> i128 {
    i128::try_from(number + 1).unwrap_or(i128::MAX / cyrano_ir::WORD) * cyrano_ir::WORD
}
