import { isJsonObject, type Json, type JsonObject, type StatusError, statusError } from '../meta/index.ts';
import { type FieldSet, type FieldSetDraft, finished, itself, leaf } from './field-set.ts';
import { canonicalElement } from './path.ts';

/** How many paths one set may have, and how deep they may go. */
export const maxFieldSetElements = 200_000;
export const maxFieldSetDepth = 500;

/** The set with the members of every node sorted: the one wire form of a set. Costs no more than a look when they are. */
export function toWire(set: FieldSet): JsonObject {
  return sorted(set) as JsonObject;
}

function sorted(node: FieldSet): FieldSet {
  let inOrder = true;
  let last = '';
  let changed: Map<string, FieldSet> | undefined;
  for (const element in node) {
    if (element < last) inOrder = false;
    last = element;
    const below = node[element] as FieldSet;
    const wanted = below === leaf ? leaf : sorted(below);
    if (wanted === below) continue;
    changed ??= new Map();
    changed.set(element, wanted);
  }
  if (inOrder && changed === undefined) return node;
  const elements = Object.keys(node);
  if (!inOrder) elements.sort();
  const out: FieldSetDraft = {};
  for (const element of elements) out[element] = changed?.get(element) ?? (node[element] as FieldSet);
  return out;
}

/**
 * The set that a client spelled.
 * @throws StatusError 400 when it is none, or larger or deeper than the limits.
 */
export function parseFieldSet(wire: Json | undefined): FieldSet {
  return parseNode(wire, { left: maxFieldSetElements }, 0) ?? leaf;
}

/** An empty node gives undefined. */
function parseNode(wire: Json | undefined, budget: { left: number }, depth: number): FieldSet | undefined {
  if (!isJsonObject(wire)) throw malformed('a node is no object');
  if (depth > maxFieldSetDepth) throw malformed(`it is deeper than ${maxFieldSetDepth} levels`);
  const out: FieldSetDraft = {};
  for (const [text, below] of Object.entries(wire)) {
    if (budget.left-- === 0) throw malformed(`it has more than ${maxFieldSetElements} elements`);
    if (text === itself) {
      if (depth === 0) throw malformed('the outermost node cannot be a member');
      if (!isJsonObject(below) || Object.keys(below).length > 0) throw malformed('the member "." is not {}');
      out[itself] = leaf;
      continue;
    }
    const element = canonicalElement(text);
    if (element === undefined) throw malformed(`${JSON.stringify(text.slice(0, 100))} is no path element`);
    if (out[element] !== undefined) throw malformed(`${JSON.stringify(element.slice(0, 100))} is there twice`);
    out[element] = parseNode(below, budget, depth + 1) ?? leaf;
  }
  return finished(out);
}

const malformed = (why: string): StatusError => statusError.badRequest(`fieldsV1 is not a set of fields: ${why}`);
