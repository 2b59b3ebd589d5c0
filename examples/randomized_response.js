// Randomised response as a program under audit: protocol 1, answers as JSON.
//
//     node randomized_response.js EPSILON
//
// The dataset is one bit; released is the bit, kept with probability e^EPSILON / (1 + e^EPSILON).
"use strict";

const keep = 1 / (1 + Math.exp(-Number(process.argv[2] ?? 1)));

function mulberry32(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let word = Math.imul(state ^ (state >>> 15), 1 | state);
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word;
    return ((word ^ (word >>> 14)) >>> 0) / 4294967296;
  };
}

function answer({ request, dataset, size, seed }) {
  const uniform = mulberry32((seed % 4294967296) ^ Math.floor(seed / 4294967296));
  const outputs = Array.from({ length: size }, () => (uniform() < keep ? dataset : 1 - dataset));
  return { request, outputs };
}

require("node:readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + "\n"));
