"""How far held-out estimates are from the truth, by simulation (Airola 2011, chapter 5)."""
