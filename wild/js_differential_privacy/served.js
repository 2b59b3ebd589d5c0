// differential-privacy 1.1.2 for JavaScript: functions of an array, made private as its README shows.
"use strict";

module.exports = (require) => {
  const { newArrayView, privatize } = require("differential-privacy");

  // A function of an array as a mechanism: the library tries it on the array without each of its elements.
  const released = (query) => async (dataset, { epsilon = 1 }) => {
    const view = newArrayView(dataset);
    const ask = privatize(query, { maxEpsilon: epsilon, newShadowIterator: view.newShadowIterator });
    return (await ask(view)).result;
  };
  const elements = (view) => {
    const found = [];
    view.forEach((element) => found.push(element));
    return found;
  };
  const sum = (view) => elements(view).reduce((total, element) => total + element, 0);
  const count = (view) => elements(view).length;
  return {
    sum: released(sum),
    mean: released((view) => sum(view) / count(view)),
    count: released(count),
    median: released((view) => elements(view).sort((a, b) => a - b)[Math.floor(count(view) / 2)]),
    maximum: released((view) => Math.max(...elements(view))),
  };
};
