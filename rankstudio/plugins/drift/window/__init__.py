"""The command *Test a selection made elsewhere* of the menu *Run*."""
