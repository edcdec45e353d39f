mod pages;
mod rewriting;
mod rows;
mod sharing;
mod together;
mod vacuuming;
mod values;
mod world;
