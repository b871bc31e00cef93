import { addQuantities, compareQuantities, formatQuantity, getKey, parseQuantity, setKey } from '../../meta/index.ts';
import type { Container, PodSpec } from '../types/core-v1.ts';

/** Amounts by the name of a resource, in canonical text. */
export interface ResourceList {
  [resource: string]: string;
}

export const compareQuantityTexts = (a: string, b: string): number =>
  a === b ? 0 : compareQuantities(parseQuantity(a), parseQuantity(b));

const MILLI = 1_000_000n;

/** Rounds what is finer than a thousandth up to one. */
export function roundQuantities(amounts: ResourceList | undefined): void {
  for (const resource in amounts) {
    const text = amounts[resource] as string;
    // Only these spellings can be finer than a thousandth.
    if (!/[nu]$|e-/.test(text)) continue;
    const { nano, format } = parseQuantity(text);
    const rest = nano % MILLI;
    if (rest === 0n) continue;
    const rounded = nano - rest + (nano > 0n ? MILLI : -MILLI);
    setKey(amounts, resource, formatQuantity({ nano: rounded, format }));
  }
}

/** The amounts with those that only the other has; they themselves when they have them all, else sorted by resource. */
export function withMissing(amounts: ResourceList = {}, from: ResourceList = {}): ResourceList {
  if (Object.keys(from).every((resource) => Object.hasOwn(amounts, resource))) return amounts;
  const out: ResourceList = {};
  const all = { ...from, ...amounts };
  for (const resource of Object.keys(all).sort()) setKey(out, resource, all[resource] as string);
  return out;
}

const add = (a: string | undefined, b: string): string =>
  a === undefined ? b : formatQuantity(addQuantities(parseQuantity(a), parseQuantity(b)));

function addAll(sum: ResourceList, amounts: ResourceList | undefined): void {
  for (const [resource, amount] of Object.entries(amounts ?? {}))
    setKey(sum, resource, add(getKey(sum, resource), amount));
}

function raise(most: ResourceList, resource: string, amount: string): void {
  const known = getKey(most, resource);
  if (known === undefined || compareQuantityTexts(amount, known) > 0) setKey(most, resource, amount);
}

/**
 * What the containers of a pod take together: the regular ones and those started before that keep running at the same
 * time, or, where that is more, what is needed while one of the initial steps runs.
 */
export function sumContainers({ containers, initContainers }: PodSpec, kind: 'requests' | 'limits'): ResourceList {
  const total: ResourceList = {};
  for (const container of containers ?? []) addAll(total, container.resources?.[kind]);
  const running: ResourceList = {};
  const initial: ResourceList = {};
  for (const container of initContainers ?? []) {
    const own = container.resources?.[kind] ?? {};
    const staysOn = isSidecar(container);
    // What keeps running was counted when it started: only what this one takes can raise the sum.
    for (const [resource, amount] of Object.entries(own)) {
      const sum = add(getKey(running, resource), amount);
      if (staysOn) setKey(running, resource, sum);
      raise(initial, resource, sum);
    }
    if (staysOn) addAll(total, own);
  }
  for (const [resource, amount] of Object.entries(initial)) raise(total, resource, amount);
  return total;
}

/** Started in its turn among the init containers, and runs on. */
export const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always';
