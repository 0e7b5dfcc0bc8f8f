"""What stops one version of the matrix, and not the others."""


class NotTried(Exception):
    """It could not be had: no network, no root, another checksum."""


class NotBuilt(Exception):
    """It was there, and something of it did not compile. The matrix fails."""
