//! Small sets of words.

/// Declares a set type: its doc and name, the integer that holds it, the name of its table, what the empty set is called, and each member with its word.
macro_rules! word_set {
    ($(#[$doc:meta])* $name:ident: $repr:ty, $table:ident, $empty:literal,
     $($(#[$member_doc:meta])* $member:ident = $bit:literal, $word:literal;)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name($repr);

        impl $name {
            $($(#[$member_doc])* pub const $member: Self = Self($bit);)*

            /// The single members with their words.
            pub const $table: [(Self, &'static str); [$($bit),*].len()] = [$((Self::$member, $word)),*];

            /// Whether it has no member.
            #[inline]
            pub fn is_empty(self) -> bool {
                self.0 == 0
            }

            /// Whether it has a member of `other`.
            #[inline]
            pub fn meets(self, other: Self) -> bool {
                self.0 & other.0 != 0
            }

            /// Whether every member of `other` is also in `self`.
            #[inline]
            pub fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// `self` without the members of `other`.
            #[inline]
            pub fn without(self, other: Self) -> Self {
                Self(self.0 & !other.0)
            }

            /// The member with this word, if there is one.
            pub fn from_name(name: &str) -> Option<Self> {
                let member = Self::$table.into_iter().find(|(_, word)| *word == name);
                member.map(|(member, _)| member)
            }
        }

        impl std::ops::BitOr for $name {
            type Output = Self;
            #[inline]
            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl std::ops::BitOrAssign for $name {
            #[inline]
            fn bitor_assign(&mut self, other: Self) {
                self.0 |= other.0;
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let members = Self::$table.into_iter().filter(|(member, _)| self.contains(*member));
                let words = if self.is_empty() { vec![$empty] } else { members.map(|(_, word)| word).collect() };
                f.write_str(&words.join(" "))
            }
        }
    };
}

pub(crate) use word_set;
