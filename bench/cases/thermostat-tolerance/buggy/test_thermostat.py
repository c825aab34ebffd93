import unittest

from thermostat import Thermostat


class ThermostatTest(unittest.TestCase):
    def setUp(self):
        self.thermostat = Thermostat(20)

    def test_heats_when_cold(self):
        self.assertTrue(self.thermostat.update(18))

    def test_near_enough(self):
        self.assertFalse(self.thermostat.update(19.6))
        self.assertEqual(self.thermostat.switches, 0)

    def test_keeps_heating_in_between(self):
        self.thermostat.update(18)
        self.assertTrue(self.thermostat.update(20.2))

    def test_stops_when_warm(self):
        self.thermostat.update(18)
        self.assertFalse(self.thermostat.update(21))

    def test_settled(self):
        self.assertTrue(self.thermostat.settled(20.5))
        self.assertFalse(self.thermostat.settled(19))
        self.assertFalse(self.thermostat.settled(22))

    def test_run(self):
        self.assertEqual(self.thermostat.run([19, 20, 19.7]), [True, True, True])
