// The server of one mechanism of a JavaScript library: the protocol of docs/programs.md, answers as JSON.
//
//     node wild/serve.js wild/<library>/served.js ENVIRONMENT NAME
//
// served.js exports a function (require) => MECHANISMS, an object of functions (dataset, setting) -> one output or a
// promise of it; a thrown error is the output {"raised": its name}. `require` finds the library in the environment.
// Libraries draw from generators of their own: the seed of a request is not used.
"use strict";

const path = require("node:path");
const { createRequire } = require("node:module");
const { createInterface } = require("node:readline");

const [served, environment, name] = process.argv.slice(2);
const find = createRequire(path.resolve(environment, "package.json"));
const mechanism = require(path.resolve(served))(find)[name];

async function caught(dataset, setting) {
  try {
    const output = await mechanism(dataset, setting);
    return typeof output === "number" && !Number.isFinite(output) ? String(output) : output;
  } catch (error) {
    return { raised: error.name };
  }
}

async function answer({ protocol, request, dataset, size }) {
  if (protocol !== 1) return { request, error: `protocol ${protocol} is not known` };
  const keys = dataset && typeof dataset === "object" ? Object.keys(dataset).sort().join() : "";
  const [data, setting] = keys === "dataset,setting" ? [dataset.dataset, dataset.setting] : [dataset, {}];
  const outputs = [];
  for (let i = 0; i < size; i++) outputs.push(await caught(data, setting));
  return { request, outputs };
}

async function main() {
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + "\n");
  }
}

main();
