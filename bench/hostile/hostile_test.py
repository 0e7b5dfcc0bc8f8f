"""Tests of the hostile sweep: it must see whatever is wrong with a server, and damage what it says."""

import contextlib
import io
import itertools
import random
import socket
import sys
import types
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]
# pylint: disable=wrong-import-position
import calls  # noqa: E402
import damage  # noqa: E402
import fake_server  # noqa: E402
import report  # noqa: E402
import run  # noqa: E402
import wire  # noqa: E402
from honest import Ranking, honest_call  # noqa: E402
from sweep import Dead, Sweep  # noqa: E402
from verdict import Verdict  # noqa: E402

SECONDS = 20
REFUSED = (3, "not a message", b"")
KILLER = bytes.fromhex("000000004b" "0a1e" + "61" * 30 + "000000" + "62" * 40)


def some_calls(damaged=60):
    """Honest ones, what was deadly, and damaged ones."""
    dice = random.Random(1)
    messages = [damage.Message("Rank", Ranking(dice).request) for _ in range(3)]
    made = [honest_call(dice, {}) for _ in range(20)] + list(calls.killers())
    made += [calls.damaged_call(dice, messages) for _ in range(damaged)]
    dice.shuffle(made)
    return made


def good(made):
    """How a good server behaves."""
    right = {call.body: (0, "", calls.framed(call.answer)) for call in made if call.answer is not None}
    return lambda body: right.get(body, REFUSED)


def swept(made, behave, stock=None, seconds=SECONDS, **server):
    """The outcome of a sweep over a fake server."""
    with contextlib.closing(fake_server.FakeServer(behave, **server)) as fake:
        sweep = Sweep(fake, seconds)
        try:
            sweep.run(made, stock)
        finally:
            sweep.close()
        return sweep.outcome, fake


class SweepTest(unittest.TestCase):
    def setUp(self):
        self.made = some_calls()
        self.good = good(self.made)

    def but(self, body, what):
        """A good server, but for one request."""
        return lambda asked: what if asked == body else self.good(asked)

    def whats(self, behave, **server):
        return [what for what, _ in swept(self.made, behave, **server)[0].wrong]

    def test_a_good_server_has_nothing_wrong(self):
        outcome, _ = swept(self.made, self.good)
        self.assertEqual(outcome.wrong, [])
        self.assertEqual((outcome.honest, outcome.honest_right), (20, 20))
        self.assertEqual(outcome.sent, len(self.made) - 20)
        self.assertEqual(sum(outcome.statuses.values()), outcome.sent)
        self.assertGreater(outcome.statuses["INVALID_ARGUMENT"], 90 - outcome.statuses["given up by us"])

    def test_frames_are_cut_where_the_call_says(self):
        _, fake = swept(self.made, self.good)
        for call in self.made:
            if not call.reset and call.body:
                edges = set(itertools.accumulate(fake.frames[call.body]))  # long ones are cut by flow control too
                self.assertLessEqual(set(call.cuts), edges)
                self.assertEqual(max(edges), len(call.body))

    def test_a_server_that_dies_is_told_of_with_the_bytes(self):
        with self.assertRaisesRegex(Dead, "ended with -6") as raised:
            swept(self.made, self.but(KILLER, fake_server.DIE))
        text = [str(call) for call in raised.exception.calls]
        self.assertTrue(any("61000000|6262" in line for line in text), text)

    def test_a_server_that_hangs(self):
        seconds = 5  # in which a busy machine answers the others
        with self.assertRaisesRegex(Dead, f"no answer within {seconds} s") as raised:
            swept(self.made, self.but(KILLER, fake_server.SILENCE), seconds=seconds)
        self.assertEqual({call.body for call in raised.exception.calls}, {KILLER})

    def test_a_server_that_is_not_there(self):
        with socket.create_server(("127.0.0.1", 0)) as unused:
            port = unused.getsockname()[1]
        nobody = types.SimpleNamespace(port=port, has_ended=lambda seconds: "")
        with self.assertRaisesRegex(Dead, "cannot be reached"):
            Sweep(nobody, SECONDS).run(self.made)

    def test_a_closed_connection_is_wrong_and_the_sweep_goes_on(self):
        outcome, _ = swept(self.made, self.but(KILLER, fake_server.CLOSE))
        whats = [what for what, _ in outcome.wrong]
        self.assertIn("it has closed a connection", whats)
        self.assertTrue(any("no answer" in what for what in whats), whats)
        self.assertEqual(outcome.sent + outcome.honest, len(self.made))

    def test_a_server_that_closes_every_connection_is_dead(self):
        with self.assertRaisesRegex(Dead, "has closed 1[0-9] connections"):
            swept(self.made, lambda body: fake_server.CLOSE)

    def test_an_honest_call_with_another_ones_answer(self):
        first, second = [call for call in self.made if call.answer is not None][:2]
        [what] = self.whats(self.but(first.body, self.good(second.body)))
        self.assertIn("an honest call has a wrong answer", what)
        [what] = self.whats(self.but(first.body, (14, "busy", b"")))
        self.assertIn("answered UNAVAILABLE 'busy'", what)

    def test_refusals_have_a_reason_and_the_right_status(self):
        self.assertEqual(set(self.whats(self.but(KILLER, (3, "", b"")))), {"INVALID_ARGUMENT without a reason"})
        self.assertEqual(set(self.whats(self.but(KILLER, (13, "oh", b"")))), {"INTERNAL 'oh' instead of INVALID_ARGUMENT"})
        self.assertEqual(len(self.whats(self.but(KILLER, (8, "much", b"")))), 2)
        self.assertEqual(self.whats(self.but(KILLER, (8, "much", b"")), limited=True), [])
        self.assertEqual(self.whats(self.but(KILLER, (12, "", b"")), harena=False), [])

    def test_what_is_malformed_may_not_be_served(self):
        self.assertEqual(set(self.whats(self.but(KILLER, (0, "", b"")))), {"a malformed request was served"})

    def test_stock_decides_what_is_served(self):
        call = next(call for call in self.made if call.kind != "killer" and call.whole and call.answer is None)
        one, other = ({call: Verdict(0, Verdict.of(types.SimpleNamespace(status=0, body=body)).digest)}
                      for body in (b"one", b"eno2"))
        serving = self.but(call.body, (0, "", b"eno"))
        self.assertEqual(swept(self.made, serving, one)[0].wrong, [])
        [(what, about)] = swept(self.made, serving, other)[0].wrong
        self.assertEqual((what, about), ("served with another answer than by stock", call))
        [(what, _)] = swept(self.made, self.good, one)[0].wrong
        self.assertIn("stock OK", what)


class DamageTest(unittest.TestCase):
    def setUp(self):
        dice = random.Random(2)
        self.messages = [damage.Message("Rank", Ranking(dice).request) for _ in range(4)]

    def test_each_kind_changes_the_message_in_many_ways(self):
        for kind in damage.KINDS:
            dice = random.Random(3)
            made = [kind(dice, self.messages[0], self.messages) for _ in range(50)]
            self.assertGreater(len({wire for wire, _ in made}), 15, kind.__name__)
            self.assertTrue(all(wire != self.messages[0].wire for wire, _ in made), kind.__name__)
            self.assertTrue(all(0 <= at <= len(self.messages[0].wire) for _, at in made), kind.__name__)

    def test_lengths_around_a_change_are_made_to_fit(self):
        message = self.messages[0]
        inner = [field for field in message.fields if field.inside and field.inside.inside]
        for field in inner:
            changed = wire.replaced(message.wire, field.inside, field.begin, field.begin, wire.delimited(99, bytes(200)))
            self.assertEqual(len(wire.all_fields(changed)), len(message.fields) + 1)

    def test_a_thinned_message_is_smaller_and_one(self):
        dice = random.Random(4)
        whole = b"".join(wire.delimited(4, Ranking(dice).request) for _ in range(20)) + wire.delimited(1, "head")
        for _ in range(20):
            thinned = wire.thinned(whole, dice, 3000)
            self.assertLess(len(thinned), 9000)
            self.assertIn(1, [field.number for field in wire.fields_of(thinned)])

    def test_cuts_are_within_and_often_near_the_end(self):
        dice = random.Random(5)
        near = 0
        for _ in range(300):
            cuts = calls.cut_points(dice, 1000, 500)
            self.assertEqual(sorted(cuts), list(cuts))
            self.assertTrue(all(0 < cut < 1000 for cut in cuts))
            near += any(cut >= 984 for cut in cuts)
        self.assertGreater(near, 60)
        self.assertEqual(calls.cut_points(dice, 1), ())

    def test_pieces_are_the_body(self):
        for call in some_calls():
            self.assertEqual(b"".join(call.pieces()), call.body)

    def test_the_two_that_were_found_are_there(self):
        made = list(calls.killers())
        for found, stray in zip(made, ("000000", "0c0c0c")):
            self.assertTrue(str(found).endswith("0000004b0a1e" + "61" * 30 + stray + "|" + "62" * 40), found)
            self.assertTrue(found.refused)

    def test_every_framing_and_resets_come_up(self):
        dice = random.Random(6)
        made = [calls.damaged_call(dice, self.messages) for _ in range(1500)]
        kinds = {call.kind.split(",")[0] for call in made}
        self.assertEqual(kinds, {kind.__name__ for kind in (*damage.KINDS, *calls.FRAMINGS)} | {"reset"})


class RunTest(unittest.TestCase):
    def test_the_seed_decides_what_is_sent(self):
        one, two, other = (list(map(str, run.Plan(seed).calls("x", 80))) for seed in (7, 7, 8))
        self.assertEqual(one, two)
        self.assertNotEqual(one, other)
        self.assertGreater(sum("honest" in call for call in one), 5)

    def test_the_command_line(self):
        self.assertEqual(run.parse([]).requests, run.REQUESTS)
        self.assertEqual(run.parse(["--quick", "--seed", "5"]).requests, run.QUICK_REQUESTS)
        self.assertEqual(run.parse(["--seed", "5"]).seed, 5)
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
            run.parse(["--requests", "0"])

    def row(self, outcome):
        return report.Row(types.SimpleNamespace(framework="grpc-cpp", mode="codec", limited=False), outcome)

    def test_the_report(self):
        made = some_calls()
        row = self.row(swept(made, good(made))[0])
        self.assertFalse(row.failed)
        self.assertIn("all alive, nothing wrong", report.text([row], "file", 1))
        row.wrong_at_end = ["scopes_live is 4 when all is over"]
        self.assertTrue(row.failed)
        self.assertIn("scopes_live is 4", report.text([row], "file", 1))

    def test_a_row_without_answers_fails(self):
        outcome = Sweep(None, SECONDS).outcome
        self.assertTrue(self.row(outcome).failed)
        self.assertIn("nothing was tested", report.text([self.row(outcome)], "file", 1))
        outcome.sent, outcome.honest, outcome.honest_right = 1, 1, 1
        self.assertTrue(self.row(outcome).failed)

    def test_the_dead_are_told_of(self):
        made = some_calls()
        killer = next(call for call in made if call.body == KILLER)
        row = self.row(swept(made, good(made))[0])
        row.died(Dead("the server ended with -6", made[:5], made[5:9]), killer)
        self.assertTrue(row.failed)
        for told in (report.text([row], "file", 1), report.wrong_in_full(row)):
            self.assertIn("ended with -6", told)
            self.assertIn("this request does it by itself\n    killer: Rank", told)
        self.assertIn(str(made[4]), report.wrong_in_full(row))


if __name__ == "__main__":
    unittest.main()
