import { formatQuantity, parseQuantity, setKey } from '../../meta/index.ts';
import type { ResourceList } from '../../rules/index.ts';

const MILLI = 1_000_000n;

/** Rounds quantities up to milli units. */
export function roundQuantities(amounts: ResourceList | undefined): void {
  for (const resource in amounts) {
    const text = amounts[resource] as string;
    // Only quantities with these suffixes can be finer than a milli unit.
    if (!/[nu]$|e-/.test(text)) continue;
    const { nano, format } = parseQuantity(text);
    const rest = nano % MILLI;
    if (rest === 0n) continue;
    const rounded = nano - rest + (nano > 0n ? MILLI : -MILLI);
    setKey(amounts, resource, formatQuantity({ nano: rounded, format }));
  }
}

/** `amounts` completed by the resources that only `from` has, sorted by name; `amounts` itself when none is missing. */
export function withMissing(amounts: ResourceList = {}, from: ResourceList = {}): ResourceList {
  if (Object.keys(from).every((resource) => Object.hasOwn(amounts, resource))) return amounts;
  const out: ResourceList = {};
  const all = { ...from, ...amounts };
  for (const resource of Object.keys(all).sort()) setKey(out, resource, all[resource] as string);
  return out;
}
