import { addQuantities, compareQuantities, formatQuantity, getKey, parseQuantity, setKey } from '../../meta/index.ts';
import type { Container, PodSpec } from '../../types/core-v1.ts';

/** A ResourceList: canonical quantities by resource name. */
export interface ResourceList {
  [resource: string]: string;
}

export const compareQuantityTexts = (a: string, b: string): number =>
  a === b ? 0 : compareQuantities(parseQuantity(a), parseQuantity(b));

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
 * The effective requests or limits of the containers of a pod: the sum over containers and sidecars or, where that is
 * higher, what the init containers need one after the other.
 */
export function sumContainers({ containers, initContainers }: PodSpec, kind: 'requests' | 'limits'): ResourceList {
  const total: ResourceList = {};
  for (const container of containers ?? []) addAll(total, container.resources?.[kind]);
  const running: ResourceList = {};
  const initial: ResourceList = {};
  for (const container of initContainers ?? []) {
    const own = container.resources?.[kind] ?? {};
    const staysOn = isSidecar(container);
    // Sidecars are in the sum already: only what an init container needs by itself can raise it.
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

/** Whether an init container is a sidecar: it keeps running (`restartPolicy: Always`). */
export const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always';
