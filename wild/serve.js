// The server of one mechanism of a JavaScript library: the protocol of docs/programs.md, answers as JSON.
//
//     node wild/serve.js wild/<library>/served.js ENVIRONMENT NAME
//
// served.js exports a function (require) => MECHANISMS, an object of functions (dataset, setting) -> one output or a
// promise of it; a thrown error is the output {"raised": its name}. `require` finds the library in the environment.
// Libraries draw from generators of their own: the seed of a request is not used.
"use strict";

const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const { createRequire } = require("node:module");
const { createInterface } = require("node:readline");

const [served, environment, name] = process.argv.slice(2);
const find = createRequire(path.resolve(environment, "package.json"));
const audited = release(path.resolve(environment));
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
  return { request, audited, outputs };
}

// The audited release as it is installed: the first dependency, with one digest of the lines "SHA-256  path" of its files.
function release(home) {
  if (!fs.existsSync(path.join(home, "package.json"))) return {};
  const read = (...parts) => JSON.parse(fs.readFileSync(path.join(...parts, "package.json")));
  const [distribution] = Object.keys(read(home).dependencies);
  const folder = path.join(home, "node_modules", distribution);
  const lines = filesBelow(folder, "").map((file) => `${sha256(fs.readFileSync(path.join(folder, file)))}  ${file}\n`);
  return { distribution, version: read(folder).version, files: lines.length, subject: sha256(lines.join("")), altered: 0 };
}

function filesBelow(folder, below) {
  const found = fs.readdirSync(path.join(folder, below), { withFileTypes: true });
  const kept = found.filter((entry) => entry.name !== "node_modules");
  const names = kept.map((entry) => [path.posix.join(below, entry.name), entry.isDirectory()]);
  return names.flatMap(([name, isFolder]) => (isFolder ? filesBelow(folder, name) : [name])).sort();
}

function sha256(content) {
  return createHash("sha256").update(content).digest("hex");
}

async function main() {
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + "\n");
  }
}

main();
