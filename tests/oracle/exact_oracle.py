"""Judges the program's certificates by exact arithmetic: what they state must never be too small.

    exact_oracle.py [--problems N] [--seed S] [--family NAME] [--show N]

TYTO_FIT_LINES names the program of fit_lines.cc. Small random problems (families.py) are fitted by it, and for each
answer the objective P(b) of the coefficients that a user gets and the minimum P* are computed as fractions (exact.py):

    P(b) - P* <= max(gap, 0) + rounding,   gap >= -rounding,   |P(b) - primal| <= rounding + 4 eps P(b),

and P(b) - P* <= tolerance P(b), or as good as doubles can be, where the status is "converged". Scales of columns enter as the doubles that were used,
and must be the standard deviations to 1e-14. The answers are then spoilt, to see that the check refuses them.
"""
import argparse
import collections
import os
import random
import subprocess
import sys
import threading
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite

import families

EPSILON = Fraction(1, 2 ** 52)
SCALE_ERROR = Fraction(1, 10 ** 14)
MILD_ROUNDING = 1e-10  # of P: where nothing is awkward, a certificate may not excuse more


@dataclass
class Answer:
    status: str
    alpha: float
    primal: float
    gap: float
    rounding: float
    intercept: float
    coefficients: list
    scales: list


class Crash(str):
    """Instead of answers."""


def talk(program, tasks, numbers, found):
    """Fits the tasks of these numbers, and starts again behind one that the program does not survive."""
    while numbers:
        lines = "".join(tasks[k].line(str(k)) + "\n" for k in numbers)
        done = subprocess.run([program], input=lines, stdout=subprocess.PIPE, text=True)
        for line in done.stdout.splitlines():
            name, step, *rest = line.split(" ")
            found[int(name)].append(" ".join(rest) if step == "refused" else parse(tasks[int(name)], rest))
        numbers = [k for k in numbers if not found[k]]
        if numbers:
            found[numbers[0]] = [Crash(f"the program ended with {done.returncode}")]
            numbers = numbers[1:]


def parse(task, words):
    numbers, p = [float.fromhex(x) for x in words[1:]], len(task.columns)
    return Answer(words[0], *numbers[:5], numbers[5:5 + p], numbers[5 + p:])


def run(program, tasks, jobs=2):
    """The answers of each task, one for each strength; or a text that says why there are none."""
    found = [[] for _ in tasks]
    threads = [threading.Thread(target=talk, args=(program, tasks, list(range(k, len(tasks), jobs)), found))
               for k in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [answers[0] if isinstance(answers[0], str) else answers for answers in found]


def check_scales(task, answer):
    """(scales as used, what is wrong with them)"""
    used, wrong = [], []
    for k, (scale, true) in enumerate(zip(answer.scales, task.true_scales())):
        infinite = not isfinite(scale)  # nothing is left of the column
        used.append(true if infinite else Fraction(scale))
        if not infinite and abs(used[-1] - true) > SCALE_ERROR * true:
            wrong.append(f"scale {k}: {scale:.17g} used, {float(true):.17g} true")
    return used, wrong


def as_exact(task, answer, scales):
    """The problem, and the coefficients of its columns: those that are penalised, on its scale, and the others."""
    b = [Fraction(answer.coefficients[j]) * s for j, s in zip(task.penalized(), scales)]
    c = [Fraction(answer.intercept)] if task.intercept else []
    return task.exact(scales, answer.alpha), b, c + [Fraction(answer.coefficients[j]) for j in task.unpenalized]


def check(task, answer):
    """What is false about an answer: a list of sentences."""
    told = [answer.alpha, answer.primal, answer.gap, answer.rounding, answer.intercept, *answer.coefficients]
    if not all(map(isfinite, told)):
        return ["not finite: " + " ".join(map(str, told))]
    scales, wrong = check_scales(task, answer)
    problem, b, c = as_exact(task, answer, scales)
    if problem.doubtful:
        return wrong
    primal, gap, rounding = Fraction(answer.primal), Fraction(answer.gap), Fraction(answer.rounding)
    value = problem.objective(b, c)
    stated = max(gap, 0) + rounding
    target = Fraction(task.tolerance) * max(value, primal) * (1 + 4 * EPSILON) + problem.resolution(b, c)
    if task.nonnegative and min(b) < 0:
        wrong.append(f"negative coefficient {float(min(b)):.3g}")
    if gap < -rounding:
        wrong.append(f"gap {answer.gap:.3g} below minus its rounding {answer.rounding:.3g}")
    if abs(value - primal) > rounding + 4 * EPSILON * value:
        wrong.append(f"primal {answer.primal:.17g} stated, rounding {answer.rounding:.3g}; it is {text(value)}")
    converged = answer.status == "converged"
    if converged and primal and stated > target:
        wrong.append(f"converged, but states {text(stated)} for tolerance {task.tolerance:g} x {answer.primal:.3g}")
    allowed = min(stated, target) if converged else stated
    if value - problem.lower_bound(b) > allowed:
        least = problem.minimum(b)
        if value - least > stated:
            wrong.append(f"{answer.status}: states gap {answer.gap:.3g} + rounding {answer.rounding:.3g}; P(b) - P* is "
                         f"{text(value - least)}, P* {text(least)}")
        elif value - least > allowed:
            wrong.append(f"converged to {task.tolerance:g}, but P(b) - P* is {text(value - least)} of {text(value)}")
    if task.mild and value > 0 and (not converged or rounding > MILD_ROUNDING * value):
        wrong.append(f"mild, but {answer.status} with gap {answer.gap:.3g} + rounding {answer.rounding:.3g} of "
                     f"{text(value)}")
    return wrong


def text(number):
    try:
        return f"{float(number):.9g}"
    except OverflowError:
        return f"about 2^{number.numerator.bit_length() - number.denominator.bit_length()}"


def spoilt(task, answer, draw):
    """The answer with something false about it: coefficients that are worse than it states, the gap or the objective."""
    kind = draw.randrange(3)
    if kind == 0:
        worse = replace(answer, coefficients=[1.01 * x for x in answer.coefficients], gap=0.0)
        problem, b, c = as_exact(task, worse, check_scales(task, worse)[0])
        return replace(worse, primal=float(problem.objective(b, c)))
    if kind == 1:
        return replace(answer, primal=1.001 * answer.primal)
    return replace(answer, gap=-2 * answer.rounding - 1e-9 * answer.primal)


def make(count, seed, only):
    tasks, names = [], [only] if only else list(families.FAMILIES)
    for k in range(count):
        task = families.task(names[k % len(names)], random.Random(f"{seed} {k}"))
        tasks.append(task)
        if task.both:
            tasks.append(replace(task, storage="sparse"))
    return tasks


def less_exact(tasks, found, k):
    """From sparse storage: what dense storage reaches easily, sparse storage reaches, too. Not by spgd: where problems are
    ill-conditioned, rounding alone decides how far its random steps get in an epoch."""
    if tasks[k].solver == "spgd" or not tasks[k].both or tasks[k].storage != "sparse" or isinstance(found[k - 1], str):
        return []
    if isinstance(found[k], str):
        return [f"refused from sparse storage only: {found[k]}"]
    dense, sparse = found[k - 1][0], found[k][0]
    easy = tasks[k].max_epochs > 5 and dense.status == "converged" and 100 * dense.rounding <= tasks[k].tolerance * dense.primal
    if not easy or sparse.status == "converged":
        return []
    return [f"{sparse.status} from sparse storage (gap {sparse.gap:.3g}, rounding {sparse.rounding:.3g} of "
            f"{sparse.primal:.3g}), converged from dense (gap {dense.gap:.3g}, rounding {dense.rounding:.3g})"]


def judge(tasks, found, show):
    """Prints a line for each family, and the smallest problems of it with a false answer; returns how many there are."""
    false, refused, statuses = collections.defaultdict(list), collections.Counter(), collections.Counter()
    for k, (task, answers) in enumerate(zip(tasks, found)):
        wrong = less_exact(tasks, found, k)
        if isinstance(answers, str):
            crashed = isinstance(answers, Crash)
            refused[task.family, answers.split(', got')[0]] += not crashed
            wrong += [answers] if crashed or task.mild else []
            answers = []
        for step, answer in enumerate(answers):
            statuses[task.family, answer.status] += 1
            wrong += [f"step {step}: " * (len(answers) > 1) + x for x in check(task, answer)]
        if wrong:
            false[task.family].append((len(task.y) * len(task.columns), k, wrong))
    for family in families.FAMILIES:
        ended = ", ".join(f"{n} {status}" for (name, status), n in sorted(statuses.items()) if name == family)
        if ended:
            print(f"{family:13} {ended}; {len(false[family])} false")
        for (name, why), count in refused.items():
            if name == family and count:
                print(f"  {count} refused: {why}")
        for _, k, wrong in sorted(false[family])[:show]:
            print(f"  FALSE: {'; '.join(wrong)}\n    {tasks[k]}\n    {tasks[k].line(str(k))}")
    return sum(map(len, false.values()))


def control(tasks, found, seed):
    """How many spoilt answers were accepted, of those that were right and exact."""
    draw, accepted, tried = random.Random(seed), 0, 0
    for task, answers in zip(tasks, found):
        if tried >= 100:
            break
        if isinstance(answers, str) or task.family not in ("plain", "path", "standardized"):
            continue
        answer = answers[-1]
        exact = answer.status == "converged" and task.tolerance <= 1e-9 and answer.rounding < 1e-8 * answer.primal
        if not exact or not any(answer.coefficients) or check(task, answer):
            continue
        tried += 1
        accepted += not check(task, spoilt(task, answer, draw))
    print(f"controls: {tried} spoilt answers, {accepted} accepted")
    return accepted if tried else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--problems", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--family", choices=list(families.FAMILIES))
    parser.add_argument("--show", type=int, default=2, help="false answers of a family to print")
    args = parser.parse_args()
    tasks = make(args.problems, args.seed, args.family)
    found = run(os.environ["TYTO_FIT_LINES"], tasks)
    false = judge(tasks, found, args.show)
    accepted = control(tasks, found, args.seed) if not args.family else 0
    print(f"{args.problems} problems, {len(tasks)} fits: {false} false")
    return 1 if false or accepted else 0


if __name__ == "__main__":
    sys.exit(main())
