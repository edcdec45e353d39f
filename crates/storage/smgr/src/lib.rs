//! The `smgr` layer.
