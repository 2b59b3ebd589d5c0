const { newArrayView, privatize } = require("differential-privacy");

const count = (view) => { let found = 0; view.forEach(() => { found += 1; }); return found; };
async function released(data) {
  const found = new Set();
  for (let i = 0; i < 200; i += 1) {
    const view = newArrayView(data);
    const ask = privatize(count, { maxEpsilon: 1, newShadowIterator: view.newShadowIterator });
    found.add(String((await ask(view)).result));
  }
  return [...found];
}
Promise.all([released([0, 0]), released([0, 0, 0])]).then(([left, right]) => {
  console.log("counts:", left, right);
  if (left.length > 1 || right.length > 1 || left[0] === right[0]) process.exit(1);
});
