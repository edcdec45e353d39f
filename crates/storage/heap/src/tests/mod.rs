mod pages;
mod rows;
mod vacuuming;
mod values;
mod world;
