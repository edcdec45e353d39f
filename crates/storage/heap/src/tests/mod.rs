mod pages;
mod rewriting;
mod rows;
mod together;
mod vacuuming;
mod values;
mod world;
