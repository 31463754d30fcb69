import unittest

import conftest


class Test(unittest.TestCase):
    def test_it(self):
        self.assertTrue(conftest)
