"""How the window looks: theme, palettes, style sheet, icons, fonts, number formats."""
