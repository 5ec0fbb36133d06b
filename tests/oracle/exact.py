"""The regression problem of MATH.md in exact rational arithmetic: objective, lower bounds and the minimum itself."""
from fractions import Fraction
from math import isqrt

ZERO = Fraction(0)


def dot(a, b):
    return sum((x * y for x, y in zip(a, b)), ZERO)


def root(square, digits=60):
    """The square root, with a relative error below 10^-digits."""
    if square == 0:
        return ZERO
    shift = max(0, 4 * digits - (square.numerator.bit_length() - square.denominator.bit_length()))
    shift += shift % 2
    return Fraction(isqrt((square.numerator << shift) // square.denominator), 1 << (shift // 2))


def solve(matrix, right):
    """(x, None) with matrix x = right, or (None, null) where that has no solution: matrix null = 0, right'null > 0.

    The matrix is symmetric and positive semidefinite; where it is singular, some entries of x are 0.
    """
    k = len(right)
    rows = [list(matrix[i]) + [right[i]] for i in range(k)]
    pivots = []
    for i in range(k):  # no need to change rows: a pivot of 0 has a row and a column of zeros
        if rows[i][i] == 0:
            continue
        pivots.append(i)
        for other in range(k):
            if other != i and rows[other][i] != 0:
                factor = rows[other][i] / rows[i][i]
                rows[other] = [a - factor * b if b else a for a, b in zip(rows[other], rows[i])]
    for i in range(k):
        if i not in pivots and rows[i][k] != 0:
            null = [-rows[j][i] / rows[j][j] if j in pivots else ZERO for j in range(k)]
            null[i] = Fraction(1)
            return None, null if dot(null, right) > 0 else [-x for x in null]
    return [rows[i][k] / rows[i][i] if i in pivots else ZERO for i in range(k)], None


class Problem:
    """minimise 1/2 sum_i weight_i (y_i - free_i'c - columns_i'b)^2 + ridge/2 ||b||^2 + sum_i price_i |b|_(i)

    over b, which is >= 0 where `nonnegative`, and c, the coefficients of the columns that are not penalised.
    """

    DEPENDENT = Fraction(1, 10 ** 10)  # MATH.md, section 13: a column in the span of unpenalised ones, to that

    def __init__(self, columns, free, y, weight, price, ridge, nonnegative):
        self.columns, self.free, self.y, self.weight = columns, free, y, weight
        self.price, self.ridge, self.nonnegative = price, ridge, nonnegative
        self._without_free()

    def _without_free(self):
        """The quadratic in b that is left at the best c: 1/2 (yy - 2 pull'b + b'gram b).

        Columns that depend on the unpenalised ones, to DEPENDENT, are 0. `doubtful`: some nearly do.
        """
        columns, free, y, self.doubtful = list(self.columns), list(self.free), self.y, False
        for k, direction in enumerate(free):
            heavy = [w * x for w, x in zip(self.weight, direction)]
            length = dot(heavy, direction)
            if length == 0:
                continue
            constant = all(x == 1 for x in self.free[k])  # the intercept: nothing depends on it but for rounding

            def rest(column, counts=True):
                factor = dot(heavy, column) / length
                left = [x - factor * d for x, d in zip(column, direction)]
                share = self._square(left) / (self._square(column) or 1) / self.DEPENDENT ** 2
                self.doubtful |= counts and not constant and Fraction(1, 10 ** 4) < share < 10 ** 4
                return [ZERO] * len(left) if counts and not constant and share <= 1 else left

            columns, y = [rest(x) for x in columns], rest(y, False)
            free[k + 1:] = [rest(f) for f in free[k + 1:]]
        heavy = [[w * x for w, x in zip(self.weight, column)] for column in columns]
        self.gram = [[dot(a, b) for b in columns] for a in heavy]
        for j in range(len(columns)):
            self.gram[j][j] += self.ridge
        self.pull = [dot(a, y) for a in heavy]
        self.yy = sum((w * v * v for w, v in zip(self.weight, y)), ZERO)

    def _square(self, column):
        return sum((w * x * x for w, x in zip(self.weight, column)), ZERO)

    def norm(self, b):
        """J(b)"""
        return dot(self.price, sorted(map(abs, b), reverse=True))

    def objective(self, b, c):
        loss = ZERO
        for i, (w, y) in enumerate(zip(self.weight, self.y)):
            r = y - sum((a * x[i] for a, x in zip(b, self.columns) if a), ZERO)
            r -= sum((a * f[i] for a, f in zip(c, self.free)), ZERO)
            loss += w * r * r
        return (loss + self.ridge * dot(b, b)) / 2 + self.norm(b)

    def resolution(self, b, c):
        """What rounding alone may leave of the loss, with doubles as coefficients: 1/2 ||k eps (|y| + |X||b|)||^2."""
        k, total = len(b) + len(c) + 2, ZERO
        for i, (w, y) in enumerate(zip(self.weight, self.y)):
            size = abs(y) + sum((abs(a * x[i]) for a, x in zip([*b, *c], self.columns + self.free) if a), ZERO)
            total += w * size * size
        return total * k * k / 2 ** 105

    def gradient(self, b):
        """X'r, and what the ridge adds to it."""
        return [q - dot(row, b) for q, row in zip(self.pull, self.gram)]

    def lower_bound(self, b):
        """D(s r), a lower bound of the minimum: exactly that, where b is a solution (MATH.md, 2.2 and 2.3)."""
        along = dot(self.pull, b)
        ry = self.yy - along
        rr = ry - along + dot(b, [dot(row, b) for row in self.gram])
        if rr == 0 or ry <= 0:
            return ZERO
        dual_norm = self.dual_norm(self.gradient(b))
        scale = ry / rr
        if dual_norm * scale > 1:
            scale = 1 / dual_norm
        return scale * ry - scale * scale * rr / 2

    def dual_norm(self, g):
        """max_k (|g|_(1) + ... + |g|_(k)) / (w_1 + ... + w_k)"""
        most = top = bottom = ZERO
        for size, price in zip(sorted(map(self.size, g), reverse=True), self.price):
            top, bottom = top + size, bottom + price
            most = max(most, top / bottom)
        return most

    def size(self, g):
        """What of a correlation pulls at a coefficient that is 0."""
        return max(g, ZERO) if self.nonnegative else abs(g)

    def minimum(self, start):
        """The least objective, by an exact active set method from b = start; proved by a dual point without a gap.

        A face is a list of clusters, the largest first, each with its value and its columns with their signs: on it
        the norm is linear. From a point the method goes to the minimum on its face, or up to where clusters meet; at
        a minimum it takes a cluster apart where that leads down.
        """
        face = self._face_of(start)
        for _ in range(10000):
            face, arrived = self._move(face)
            if arrived and not self._split(face):
                b = self._point(face)
                value = (self.yy - 2 * dot(self.pull, b) + dot(b, [dot(r, b) for r in self.gram])) / 2 + self.norm(b)
                if self.lower_bound(b) != value:
                    raise AssertionError("the exact minimum has a gap: the oracle is wrong")
                return value
        raise AssertionError("the exact minimum was not found")

    def _face_of(self, b):
        clusters = {}
        for j, value in enumerate(b):
            if value:
                clusters.setdefault(abs(value), []).append((j, 1 if value > 0 else -1))
        return [[value, clusters[value]] for value in sorted(clusters, reverse=True)]

    def _point(self, face):
        b = [ZERO] * len(self.pull)
        for value, members in face:
            for j, sign in members:
                b[j] = sign * value
        return b

    def _move(self, face):
        """The face after a step, and whether it is at its minimum."""
        g = self.gradient(self._point(face))
        force, rank = [], 0
        for _, members in face:
            price = sum(self.price[rank:rank + len(members)], ZERO)
            force.append(sum((sign * g[j] for j, sign in members), ZERO) - price)
            rank += len(members)
        if not any(force):
            return face, True
        hessian = [[sum((s * t * self.gram[j][k] for j, s in left for k, t in right), ZERO) for _, right in face]
                   for _, left in face]
        step, null = solve(hessian, force)
        way = step or null
        longest = None if step is None else Fraction(1)
        values, ways = [value for value, _ in face] + [ZERO], list(way) + [ZERO]
        for k in range(len(face)):
            if ways[k] < ways[k + 1]:
                meet = (values[k] - values[k + 1]) / (ways[k + 1] - ways[k])
                longest = meet if longest is None else min(longest, meet)
        merged = []
        for (value, members), speed in zip(face, way):
            value += longest * speed
            if value == 0:
                continue
            if merged and merged[-1][0] == value:
                merged[-1][1] += members
            else:
                merged.append([value, list(members)])
        return merged, False

    def _split(self, face):
        """Takes apart the cluster, or the zeros, that gain most by it; False if nothing does: b is a solution."""
        g = self.gradient(self._point(face))
        best, rank = (ZERO, None, None, None), 0
        for k, (value, members) in enumerate(face):
            best = max(best, self._excess(k, [(s * g[j], j, s) for j, s in members], rank), key=lambda x: x[0])
            rank += len(members)
        used = {j for _, members in face for j, _ in members}
        zeros = [(self.size(g[j]), j, 1 if g[j] > 0 else -1) for j in range(len(g)) if j not in used]
        best = max(best, self._excess(len(face), zeros, rank), key=lambda x: x[0])
        excess, k, upper, lower = best
        if excess == 0:
            return False
        if k == len(face):
            face.append([ZERO, upper])
        else:
            face[k:k + 1] = [[face[k][0], upper], [face[k][0], lower]]
        return True

    def _excess(self, k, pulls, rank):
        """(excess, k, upper, lower): the members that together pull above their price by most."""
        pulls = sorted(pulls, reverse=True)
        best, excess = (ZERO, k, None, None), ZERO
        members = [(j, s) for _, j, s in pulls]
        for m, (pull, _, _) in enumerate(pulls, 1):
            excess += pull - self.price[rank + m - 1]
            if excess > best[0]:
                best = (excess, k, members[:m], members[m:])
        return best
