"""The window's frame: menus, toolbar, status bar, welcome page, guide."""
