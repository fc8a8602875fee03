"""What Airola 2011 prints beside what comes of it here, a module for each of its experiments."""
