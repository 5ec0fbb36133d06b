"""The definitions in plain Python: weights, objective, dual and gap of a fitted model, from the data alone."""
import math
import random
from statistics import NormalDist


def problem(n, p, seed, ties=2):
    """(features, response): random, the first columns correlated, scales and means that differ by column."""
    draw = random.Random(seed)
    rows = []
    for _ in range(n):
        common = draw.gauss(0, 1)
        rows.append([(common + 0.3 * draw.gauss(0, 1) if j < ties else draw.gauss(0, 1)) * (1 + j % 3) + j % 2
                     for j in range(p)])
    truth = [1.5 if j < ties else (-1.0 if j == ties + 1 else 0.0) for j in range(p)]
    return rows, [sum(t * x for t, x in zip(truth, row)) + 0.5 * draw.gauss(0, 1) + 3 for row in rows]


def shape(kind, n, p, q=0.1):
    normal = NormalDist()
    bh = [normal.inv_cdf(1 - q * (i + 1) / (2 * p)) for i in range(p)]
    if kind == "gaussian":
        w = bh[:1]
        for i in range(1, p):
            freedom = n - (i + 1)
            value = bh[i] * math.sqrt(1 + sum(x * x for x in w) / freedom) if freedom > 0 else math.inf
            if value > w[-1]:
                return w + [w[-1]] * (p - i)
            w.append(value)
        return w
    return {"oscar": [1 + (p - 1 - i) / p for i in range(p)], "lasso": [1.0] * p, "linf": [1.0] + [0.0] * (p - 1),
            "linear": [(p - i) / p for i in range(p)], "bh": bh}[kind]


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))


def correlations(features, vector):
    return [dot(column, vector) for column in zip(*features)]


def dual_norm(g, weights):
    """max_k (|g|_(1) + ... + |g|_(k)) / (w_1 + ... + w_k)"""
    top = bottom = most = 0.0
    for magnitude, weight in zip(sorted(map(abs, g), reverse=True), weights):
        top, bottom = top + magnitude, bottom + weight
        most = max(most, top / bottom)
    return most


def certificate(features, response, beta, weights):
    """(primal, dual) of the problem without an intercept."""
    residual = [y - dot(row, beta) for row, y in zip(features, response)]
    magnitudes = sorted(map(abs, beta), reverse=True)
    rr, ry = dot(residual, residual), dot(residual, response)
    primal = rr / 2 + dot(magnitudes, weights)
    norm = dual_norm(correlations(features, residual), weights)
    scale = ry / rr if rr > 0 else 0.0
    if norm * abs(scale) > 1:
        scale = math.copysign(1 / norm, scale)
    return primal, scale * ry - scale * scale * rr / 2


def standardized(features, response):
    """(features, response, scales) as fitted with an intercept: centred, columns with norm sqrt(n)."""
    columns, scales = [], []
    for column in zip(*features):
        mean = math.fsum(column) / len(column)
        centred = [x - mean for x in column]
        scales.append(math.sqrt(dot(centred, centred) / len(column)) or 1.0)
        columns.append([x / scales[-1] for x in centred])
    mean = math.fsum(response) / len(response)
    return [list(row) for row in zip(*columns)], [y - mean for y in response], scales


def dense(result):
    """The coefficients of a result at full length."""
    beta = [0.0] * result["p"]
    for column, value in result["coefficients"]:
        beta[column] = value
    return beta


def predictions(result, features):
    beta = dense(result)
    return [result["intercept"] + dot(row, beta) for row in features]
