mod pages;
mod rows;
mod together;
mod vacuuming;
mod values;
mod world;
