"""Tests; a package, so that worker processes can import the jobs that tests hand them."""
