import type { SimulationPlan } from './plan.ts';
import type { SimulationRun } from './world.ts';

/** The most runs that a reduction takes. */
const maxRuns = 300;

/**
 * Reduces the plan of a failed run to the fewest faults and operations with which the same rule fails. `rerun` runs a plan.
 * Resolves to the last run that failed so.
 */
export async function shrink(
  failed: SimulationRun,
  rerun: (plan: SimulationPlan) => Promise<SimulationRun>,
): Promise<SimulationRun> {
  const rule = failed.failures[0]?.rule;
  let smallest = failed;
  let runs = 0;
  const fails = async (plan: SimulationPlan) => {
    if (runs++ >= maxRuns) return false;
    const run = await rerun(plan);
    const isSame = run.failures[0]?.rule === rule;
    if (isSame) smallest = run;
    return isSame;
  };
  const { operations, faults } = failed.plan;
  const fewFaults = await reduced(faults, (rest) => fails({ operations, faults: rest }));
  const fewOperations = await reduced(operations, (rest) => fails({ operations: rest, faults: fewFaults }));
  // Fewer operations may need fewer faults.
  await reduced(fewFaults, (rest) => fails({ operations: fewOperations, faults: rest }));
  return smallest;
}

/** Leaves out parts of a list, long ones first, as long as the rest fails. */
async function reduced<T>(items: readonly T[], fails: (rest: readonly T[]) => Promise<boolean>): Promise<readonly T[]> {
  let left = items;
  for (let size = left.length; size >= 1; size = Math.floor(size / 2)) {
    for (let start = 0; start < left.length; ) {
      const rest = [...left.slice(0, start), ...left.slice(start + size)];
      if (await fails(rest)) left = rest;
      else start += size;
    }
  }
  return left;
}

/** The text of a program that repeats a run, to be pasted into a test. */
export function programOf({ seed, plan }: SimulationRun): string {
  const lines = (items: readonly object[]) => items.map((item) => `      ${literal(item)},\n`).join('');
  const list = (name: string, items: readonly object[]) =>
    items.length === 0 ? `    ${name}: [],\n` : `    ${name}: [\n${lines(items)}    ],\n`;
  return `await simulate(${seed}, {
  ...world,
  plan: {
${list('operations', plan.operations)}${list('faults', plan.faults)}  },
});
`;
}

function literal(item: object): string {
  const fields = Object.entries(item).map(([name, value]) => {
    return `${name}: ${typeof value === 'string' ? `'${value.replace(/[\\']/g, '\\$&')}'` : String(value)}`;
  });
  return `{ ${fields.join(', ')} }`;
}
