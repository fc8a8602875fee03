"""The process of the window: crash log, settings, display check, interrupts."""
