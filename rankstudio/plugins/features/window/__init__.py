"""The Features page: the selected features and one of them closely."""
