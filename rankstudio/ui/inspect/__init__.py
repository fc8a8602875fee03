"""The Features place: the selected features and one of them closely."""
