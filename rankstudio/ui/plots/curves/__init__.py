"""The plot of curves: its layers, legend and readout."""
