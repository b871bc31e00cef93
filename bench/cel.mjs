// The speed of the expression language in one process: rules as custom resource definitions have them. Prints the
// results as JSON: evaluations each second, and milliseconds to compile a rule.
import { bundled } from './bundled.mjs';

/** @type {typeof import('../src/cel/index.ts')} */
const cel = await bundled('src/cel/index.ts');
const { Budget, compileExpression, createEnvironment, intType, listType, stringType } = cel;

/** @param {import('../src/cel/index.ts').Environment} environment @param {string} source */
function check(environment, source) {
  const steps = cel.checkInSteps(environment, source);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

const read = (/** @type {unknown} */ json) => /** @type {import('../src/cel/index.ts').Value} */ (json);
const readList = (/** @type {unknown} */ json) => new cel.ListValue(/** @type {string[]} */ (json), read);
const fields = new Map([
  ['replicas', { type: intType, property: 'replicas', read }],
  ['maxReplicas', { type: intType, property: 'maxReplicas', read }],
  ['list', { type: listType(stringType, 100), property: 'list', read: readList }],
]);
/** @type {import('../src/cel/index.ts').ObjectType} */
const type = {
  kind: 'object',
  name: 'Spec',
  field: (identifier) => fields.get(identifier),
  identifiers: () => fields.keys(),
};
const libraries = cel.expressionLibraries(cel.baseLibraries({ AuthorizeWithSelectors: true })).ofStored;
const environment = createEnvironment({ libraries, variables: [{ name: 'self', type }] });
const self = new cel.ObjectValue(type, {
  replicas: 3,
  maxReplicas: 5,
  list: Array.from({ length: 100 }, (_, i) => `item-${i}`),
});

/** How often a second some work is done: the best of five rounds. @param {number} times @param {() => unknown} work */
function rate(times, work) {
  let best = 0;
  for (let round = 0; round < 6; round++) {
    const { user } = process.cpuUsage();
    for (let i = 0; i < times; i++) work();
    const seconds = (process.cpuUsage().user - user) / 1e6;
    if (round > 0) best = Math.max(best, times / seconds);
  }
  return best;
}

/** @param {string} source @param {number} times */
function evaluations(source, times) {
  const program = compileExpression(check(environment, source));
  const values = [self];
  const budget = new Budget(Number.MAX_SAFE_INTEGER);
  if (program.evaluate(values, budget) !== true) throw new Error(`${source} is not true`);
  return rate(times, () => program.evaluate(values, budget));
}

const rule = "self.replicas <= self.maxReplicas && self.list.all(x, x.size() < 10) || self.list.exists(x, x == 'abcd')";
console.log(
  JSON.stringify({
    comparison: evaluations('self.replicas <= self.maxReplicas', 2_000_000),
    loop: evaluations('self.list.all(x, x.size() < 10)', 50_000),
    compilation: 1000 / rate(2_000, () => compileExpression(check(environment, rule))),
    length: rule.length,
  }),
);
