"""Small random problems, each family awkward in its own way. Numbers are doubles; nothing is rounded afterwards."""
import struct
from dataclasses import dataclass, field
from fractions import Fraction

from exact import Problem, ZERO, dot, root

SOLVERS = ["newton", "newton", "apgd", "spgd"]
RULES = ["safe", "none", "seed", "strong"]


@dataclass
class Task:
    """A line of fit_lines.cc."""
    family: str
    columns: list
    y: list
    weights: list  # of the penalty, one for each column that is penalised
    strengths: list
    storage: str = "dense"
    solver: str = "newton"
    rule: str = "safe"
    intercept: bool = False
    standardize: bool = False
    nonnegative: bool = False
    relative_to: str = "alpha-max"
    tolerance: float = 1e-9
    max_epochs: int = 3000
    ridge: float = 0.0
    unpenalized: list = field(default_factory=list)
    row_weights: list = field(default_factory=list)
    mild: bool = False  # nothing about it excuses an answer that is not "converged"
    both: bool = False  # fitted from sparse storage, too

    def line(self, name):
        def listed(numbers):
            return [str(len(numbers))] + [x.hex() if isinstance(x, float) else str(x) for x in numbers]

        head = [name, self.storage, self.solver, self.rule, *(str(int(f)) for f in (
            self.intercept, self.standardize, self.nonnegative)), self.relative_to, self.tolerance.hex(),
            str(self.max_epochs), self.ridge.hex()]
        entries = [x for column in self.columns for x in column]
        return " ".join(head + listed(self.strengths) + listed(self.unpenalized) + listed(self.row_weights) +
                        listed(self.weights) + listed(self.y) + listed(entries))

    def penalized(self):
        return [j for j in range(len(self.columns)) if j not in self.unpenalized]

    def exact_weights(self):
        return [Fraction(w) for w in self.row_weights] or [Fraction(1)] * len(self.y)

    def true_scales(self):
        """Of the penalised columns, with 60 digits: the standard deviation, or the root mean square."""
        if not self.standardize:
            return [Fraction(1)] * len(self.penalized())
        weight = self.exact_weights()
        total, scales = sum(weight), []
        for j in self.penalized():
            column = [Fraction(x) for x in self.columns[j]]
            mean = dot(weight, column) / total if self.intercept else ZERO
            square = sum((w * (x - mean) ** 2 for w, x in zip(weight, column)), ZERO) / total
            scales.append(root(square) if square else Fraction(1))
        return scales

    def exact(self, scales, alpha):
        """The problem, the penalised columns divided by these scales."""
        rows = [i for i, w in enumerate(self.exact_weights()) if w]
        weight = [self.exact_weights()[i] for i in rows]
        columns = [[Fraction(x[i]) for i in rows] for x in self.columns]
        free = ([[Fraction(1)] * len(rows)] if self.intercept else []) + [columns[j] for j in self.unpenalized]
        scaled = [[x / s for x in columns[j]] if s != 1 else columns[j] for j, s in zip(self.penalized(), scales)]
        price = [Fraction(alpha) * Fraction(w) for w in self.weights]
        return Problem(scaled, free, [Fraction(self.y[i]) for i in rows], weight, price, Fraction(self.ridge),
                       self.nonnegative)


def gauss(draw, n):
    return [draw.gauss(0, 1) for _ in range(n)]


def power(draw, low, high):
    return 10.0 ** draw.uniform(low, high)


def float32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def shape(draw, p):
    kind = draw.choice(["oscar", "lasso", "linf", "linear", "random", "random", "steps"])
    if kind == "random":
        weights = sorted((draw.random() for _ in range(p)), reverse=True)
    elif kind == "steps":
        weights = sorted((float(draw.randint(0, 2)) for _ in range(p)), reverse=True)
    else:
        weights = {"oscar": [1 + (p - 1 - i) / p for i in range(p)], "lasso": [1.0] * p,
                   "linf": [1.0] + [0.0] * (p - 1), "linear": [(p - i) / p for i in range(p)]}[kind]
    return weights if weights[0] > 0 else [1.0] * p


def matrix(draw, n, p):
    """Columns: rounded now and then, so that there are ties and zeros; some equal or opposite to others."""
    rounded = draw.random() < 0.3
    columns = [[float(round(2 * x)) for x in gauss(draw, n)] if rounded else gauss(draw, n) for _ in range(p)]
    for j in range(1, p):
        if draw.random() < 0.12:
            columns[j] = [draw.choice([-1, 1, 1]) * x for x in columns[draw.randrange(j)]]
        if draw.random() < 0.05:
            columns[j] = [0.0] * n
    return columns


def response(draw, columns):
    n = len(columns[0])
    y = gauss(draw, n)
    if draw.random() < 0.6:
        truth = [draw.choice([0.0, 1.0, -1.0, draw.gauss(0, 2)]) for _ in columns]
        y = [sum(t * x[i] for t, x in zip(truth, columns)) + 0.1 * y[i] for i in range(n)]
    return [float(round(v)) for v in y] if draw.random() < 0.2 else y


def plain(draw, rows=(1, 6), free=0):
    n, p = draw.randint(*rows), draw.randint(1, 5)
    columns = matrix(draw, n, p + free)
    task = Task("plain", columns, response(draw, columns), shape(draw, p), [power(draw, -3, 0.1)])
    task.unpenalized = draw.sample(range(p + free), free)
    task.solver, task.rule = draw.choice(SOLVERS), draw.choice(RULES)
    task.intercept = draw.random() < 0.5
    task.nonnegative = draw.random() < 0.2
    if draw.random() < 0.2:
        task.ridge = power(draw, -3, 2)
    task.tolerance = draw.choice([1e-3, 1e-6, 1e-9, 1e-12])
    if draw.random() < 0.1:
        task.max_epochs = draw.randint(1, 5)  # the law holds for every answer, however bad
    return task


def any_storage(draw, task):
    task.storage = draw.choice(["dense", "sparse", "float"])
    if task.storage == "float":
        task.columns = [[float32(x) for x in column] for column in task.columns]
    return task


def plain_family(draw):
    task = any_storage(draw, plain(draw))
    task.mild = is_mild(task)
    return task


def is_mild(task):
    return task.solver == "newton" and task.max_epochs > 5 and task.tolerance > 1e-12


def absolute(task):
    """The same strengths, times alpha_max by exact arithmetic, as absolute ones; None if they are no doubles."""
    most = task.exact(task.true_scales(), 1)
    most = most.dual_norm(most.pull)
    try:
        task.strengths = [float(Fraction(s) * (most or 1)) for s in task.strengths]
    except OverflowError:
        return None
    task.relative_to = "absolute"
    return task if all(task.strengths) else None


def weights_family(draw):
    """Weights of the penalty of any size, and strengths that make up for it, or not; tiny and huge responses."""
    task = any_storage(draw, plain(draw))
    unit = power(draw, -60, 60) if draw.random() < 0.7 else 1.0
    task.y = [v * unit for v in task.y]
    size = power(draw, -300, 300) if draw.random() < 0.5 else draw.choice([1e-300, 1e-290, 1e290, 1e300])
    if draw.random() < 0.8:
        task.weights = [w * size for w in task.weights]
        task.mild = is_mild(task) and task.strengths[0] > 0.01  # the same problem as with weights near 1
        if draw.random() < 0.7:
            return absolute(task) or weights_family(draw)
        task.mild = task.mild and 1e-200 < size < 1e200  # else alpha_max may not be a double
        return task
    task.weights = sorted((power(draw, -300, 300) for _ in task.weights), reverse=True)
    if draw.random() < 0.5:
        task.relative_to = "absolute"
        task.strengths = [power(draw, -250, 0)]
    return task


def means_family(draw):
    """Means up to 10^12 standard deviations."""
    task = any_storage(draw, plain(draw, rows=(2, 6)))
    task.intercept = draw.random() < 0.85
    if draw.random() < 0.6:
        mean = draw.choice([-1, 1]) * power(draw, 0, 12)
        task.y = [v + mean for v in task.y]
    for j in range(len(task.columns)):
        if draw.random() < 0.5:
            mean = draw.choice([-1, 1]) * power(draw, 0, 12 if task.storage != "float" else 5)
            task.columns[j] = [x + mean for x in task.columns[j]]
    if task.storage == "float":
        task.columns = [[float32(x) for x in column] for column in task.columns]
    return task


def units_family(draw):
    """Columns and response in units from 10^-100 to 10^100."""
    task = plain(draw)
    task.storage = draw.choice(["dense", "sparse"])
    task.standardize = draw.random() < 0.3
    common = power(draw, -100, 100)
    for j in range(len(task.columns)):
        unit = common if draw.random() < 0.5 else power(draw, -100, 100)
        task.columns[j] = [x * unit for x in task.columns[j]]
    unit = power(draw, -100, 100)
    task.y = [v * unit for v in task.y]
    return task


def unpenalized_family(draw):
    """Columns without a penalty, some of them nearly other columns."""
    task = any_storage(draw, plain(draw, rows=(2, 6), free=draw.choice([1, 1, 2])))
    for j in task.unpenalized:
        if draw.random() < 0.5:
            other, near = draw.randrange(len(task.columns)), power(draw, -13, 0)
            task.columns[j] = [x + near * e for x, e in zip(task.columns[other], task.columns[j])]
        if draw.random() < 0.3:
            mean = power(draw, 0, 8)
            task.columns[j] = [x + mean for x in task.columns[j]]
    if draw.random() < 0.3:
        size = power(draw, 0, 10)  # most of the response is theirs
        task.y = [v + size * x for v, x in zip(task.y, task.columns[task.unpenalized[0]])]
    if task.storage == "float":
        task.columns = [[float32(x) for x in column] for column in task.columns]
    return task


def row_weights(draw, n, low=-8, high=8):
    wide = draw.random() < 0.7
    weights = [power(draw, low, high) if wide else float(draw.randint(0, 3)) for _ in range(n)]
    if draw.random() < 0.3:
        weights[draw.randrange(n)] = 0.0
    return weights if any(weights) else [1.0] * n


def row_weights_family(draw):
    """Rows that count from 10^-8 to 10^8 times, or not at all."""
    task = plain(draw, rows=(2, 6), free=draw.choice([0, 0, 1]))
    task.row_weights = row_weights(draw, len(task.y))
    task.standardize = draw.random() < 0.4
    task.both = True
    return task


def sparse_family(draw):
    """Columns with zeros, and columns without any that have large means: as exact from sparse storage as from dense."""
    task = plain(draw, rows=(2, 6))
    for j in range(len(task.columns)):
        if draw.random() < 0.6:
            task.columns[j] = [x if draw.random() < 0.5 else 0.0 for x in task.columns[j]]
        elif draw.random() < 0.5:
            mean = power(draw, 0, 9)
            task.columns[j] = [x + mean for x in task.columns[j]]
    task.solver = "newton"
    task.intercept = draw.random() < 0.8
    task.standardize = draw.random() < 0.5
    if draw.random() < 0.4:
        task.row_weights = row_weights(draw, len(task.y))
    task.both = True
    return task


def standardized_family(draw):
    """Standardised columns, of any mean and unit."""
    task = any_storage(draw, plain(draw, rows=(2, 6), free=draw.choice([0, 0, 1])))
    task.standardize = True
    task.intercept = draw.random() < 0.7
    for j in range(len(task.columns)):
        unit, mean = power(draw, -3, 3), power(draw, -3, 6) if draw.random() < 0.5 else 0.0
        task.columns[j] = [(x + mean) * unit for x in task.columns[j]]
    if task.storage == "float":
        task.columns = [[float32(x) for x in column] for column in task.columns]
    if draw.random() < 0.3:
        task.row_weights = row_weights(draw, len(task.y), -3, 3)
    return task


def path_family(draw):
    """Several strengths, each from the one before."""
    task = any_storage(draw, plain(draw, rows=(1, 6), free=draw.choice([0, 0, 1])))
    task.standardize = draw.random() < 0.4
    task.strengths = sorted((power(draw, -3, 0) for _ in range(draw.randint(2, 8))), reverse=True)
    if draw.random() < 0.2:
        task.row_weights = row_weights(draw, len(task.y), -3, 3)
    return task


def storm_family(draw):
    """A little of everything at once."""
    task = plain(draw, rows=(2, 6), free=draw.choice([0, 0, 1]))
    task.both = True
    task.standardize = draw.random() < 0.5
    for j in range(len(task.columns)):
        unit, mean = power(draw, -20, 20), power(draw, -3, 8) if draw.random() < 0.4 else 0.0
        task.columns[j] = [(x + mean) * unit for x in task.columns[j]]
    unit, mean = power(draw, -20, 20), power(draw, -3, 8) if draw.random() < 0.4 else 0.0
    task.y = [(v + mean) * unit for v in task.y]
    if draw.random() < 0.4:
        task.row_weights = row_weights(draw, len(task.y))
    if draw.random() < 0.4:
        size = power(draw, -300, 300)
        task.weights = [w * size for w in task.weights]
    return task


FAMILIES = {"plain": plain_family, "weights": weights_family, "means": means_family, "units": units_family,
            "unpenalized": unpenalized_family, "row weights": row_weights_family, "sparse": sparse_family,
            "standardized": standardized_family, "path": path_family, "storm": storm_family}


def task(name, draw):
    made = FAMILIES[name](draw)
    made.family = name
    return made
