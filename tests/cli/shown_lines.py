"""What a page shows beside what the program prints: times are not compared, other numbers to three digits."""
import re

WORK = re.compile(r"[\d.e+-]+ passes over the data, [\d.e+-]+ m?s|after \d+ epochs, [\d.e+-]+ m?s|screening proved \d+ zero"
                  r"|relative gap [\d.e+-]+(, at step \d+)?")
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")


def same(shown, printed):
    shown, printed = (re.sub(WORK, "work", line.strip()) for line in (shown, printed))
    if re.sub(NUMBER, "#", shown).split() != re.sub(NUMBER, "#", printed).split():
        return False
    return all(abs(float(a) - float(b)) <= 2e-3 * abs(float(a)) + 1e-12 for a, b in zip(NUMBER.findall(shown), NUMBER.findall(printed)))
