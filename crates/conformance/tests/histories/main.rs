//! Histories of memories without values, against those that brute force finds.

mod given_clients;
mod languages;
mod proofs;
mod systems;
