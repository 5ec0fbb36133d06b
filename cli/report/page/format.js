"use strict";
// Numbers and elements. Whatever comes from the data is put in as text, never as markup.

const byId = (id) => document.getElementById(id);

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

const whole = (value) => value.toLocaleString("en");
const many = (count, word) => `${whole(count)} ${word}${count === 1 ? "" : "s"}`;

// Up to so many digits, without those that say nothing.
function number(value, digits = 4) {
  if (value === null || !Number.isFinite(value)) return "n/a";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4)
    return value
      .toExponential(digits - 1)
      .replace(/\.?0+e/, "e")
      .replace("e+", "e");
  return String(Number(value.toPrecision(digits)));
}

const kSuperscript = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const raised = (exponent) =>
  (exponent < 0 ? "⁻" : "") + [...String(Math.abs(exponent))].map((digit) => kSuperscript[digit]).join("");

// A bound as a percentage with two digits that count, rounded up: it stays a bound.
function percent(fraction) {
  if (fraction === 0) return "0 %";
  if (!Number.isFinite(fraction)) return "no bound";
  const unit = 10 ** (Math.floor(Math.log10(100 * fraction)) - 1);
  const value = Math.ceil((100 * fraction) / unit - 1e-9) * unit;
  if (value >= 0.99e-5) return `${Number(value.toPrecision(2))} %`;
  const [mantissa, exponent] = value.toExponential(1).split("e");
  return `${Number(mantissa)} × 10${raised(Number(exponent))} %`;
}

const share = (fraction) => (fraction < 1 && fraction >= 0.9995 ? "> 99.9 %" : `${(100 * fraction).toFixed(1)} %`);

function duration(seconds) {
  if (seconds < 1e-3) return `${number(1e6 * seconds, 3)} µs`;
  if (seconds < 1) return `${number(1e3 * seconds, 3)} ms`;
  return seconds < 120 ? `${number(seconds, 3)} s` : `${number(seconds / 60, 3)} min`;
}
