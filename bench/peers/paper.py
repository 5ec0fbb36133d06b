"""Our own solvers in the seed paper's six settings (raw data, oscar, strengths in units of the largest correlation): CPU time
of apgd without screening over that of the fast solver, both at gap 1e-6, recomputed; medians of interleaved runs. Solving
only, as bench/screening.py counts; and with column norms, weights and the unit of the strength, which both have to pay for."""
import math
import statistics

import numpy as np

import certificate
import problems
import solvers

SETTINGS = [("colon-cancer", 3, i) for i in (1, 2, 3)] + [("duke", 2, i) for i in (1, 2, 3)]
TOLERANCE = 1e-6
ROUNDS = 11
REPEAT = {"repeat_seconds": 0.1, "max_repeats": 200}


def worst_gap(x, y, out, strength):
    w = problems.weights("oscar", x.shape[1])
    alpha = strength * float(np.max(np.abs(x.T @ y)))
    return float(certificate.certify(x, y, w, np.array([alpha]), np.load(out)).relative_gap[0])


def interleaved(args, rivals, name, strength):
    """Medians of (solving, everything) for each rival, and the gaps of their answers."""
    x, y = problems.read_real(name)
    out = args.results / "scratch" / "paper.npy"
    options = {"weights": "oscar", "relative_to": "correlation", "strengths": repr(strength), "tolerance": TOLERANCE,
               "coefficients": out, **REPEAT}
    times, gaps = [([], []) for _ in rivals], [0.0] * len(rivals)
    for _ in range(max(args.runs, ROUNDS)):
        for k, rival in enumerate(rivals):
            answer = rival.run([problems.DATA / name / "data.svm.xz"], options, args.cap)
            times[k][0].extend(answer["solve_seconds"])
            times[k][1].extend(answer["seconds"])
            gaps[k] = gaps[k] or worst_gap(x, y, out, strength)
    return [tuple(map(statistics.median, pair)) for pair in times], gaps


def run(args):
    rivals = [solvers.Tyto(args.driver, "apgd", "none"), solvers.Tyto(args.driver, args.tyto_solver, "safe")]
    print(f"CPU milliseconds at gap {TOLERANCE:.0e}, apgd without screening over {args.tyto_solver}: solving; with preparation")
    ratios = []
    for name, tau, i in SETTINGS:
        if not problems.available(name):
            print(f"skipped {name}: not in {problems.DATA} (set TYTO_DATA)")
            continue
        (slow, fast), gaps = interleaved(args, rivals, name, i * math.exp(-tau))
        ratios.append([s / f for s, f in zip(slow, fast)])
        text = ";   ".join(f"{1e3 * s:8.3f} / {1e3 * f:7.3f} = {s / f:5.1f}x" for s, f in zip(slow, fast))
        print(f"{name:>13} p_{i}   {text}   gaps {gaps[0]:.1e} {gaps[1]:.1e}"
              + ("" if max(gaps) <= TOLERANCE else "   NOT REACHED"), flush=True)
    for what, values in zip(("solving", "with preparation"), zip(*ratios)):
        print(f"{what}: median {statistics.median(values):.1f}x, least {min(values):.1f}x")
