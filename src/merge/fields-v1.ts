import {
  atOnce,
  isJsonObject,
  type Json,
  type JsonObject,
  Pace,
  type StatusError,
  type Steps,
  statusError,
} from '../meta/index.ts';
import { type FieldSet, type FieldSetDraft, isEmpty, itself, leaf, toNode } from './field-set.ts';
import { canonicalElement } from './path.ts';

/** Limits of a field set from a request: the number of its path elements and its depth. */
export const maxFieldSetElements = 200_000;
export const maxFieldSetDepth = 500;

/** The canonical `fieldsV1` of a set: the members of every node sorted. Copies nothing when they already are. */
export function toFieldsV1(set: FieldSet): JsonObject {
  return sorted(set) as JsonObject;
}

export function sorted(node: FieldSet): FieldSet {
  let inOrder = true;
  let last = '';
  let changed: Map<string, FieldSet> | undefined;
  for (const element in node) {
    if (element < last) inOrder = false;
    last = element;
    const below = node[element] as FieldSet;
    if (below === leaf) continue;
    const sortedChild = sorted(below);
    if (sortedChild === below) continue;
    changed ??= new Map();
    changed.set(element, sortedChild);
  }
  if (inOrder && changed === undefined) return node;
  const elements = Object.keys(node);
  if (!inOrder) elements.sort();
  const out: FieldSetDraft = {};
  for (const element of elements) out[element] = changed?.get(element) ?? (node[element] as FieldSet);
  return out;
}

/**
 * Parses `fieldsV1` of a request.
 * @throws StatusError 400 when it is invalid, or larger or deeper than the limits.
 */
export const parseFieldsV1 = (wire: Json | undefined): FieldSet => atOnce(parseFieldsV1InSteps(wire));

/** The same in steps. */
export function* parseFieldsV1InSteps(wire: Json | undefined): Steps<FieldSet> {
  return (yield* parseNode(wire, { left: maxFieldSetElements }, 0, new Pace())) ?? leaf;
}

/** Whether it is the node of most fields. */
const isEmptyNode = (wire: Json | undefined): boolean => isJsonObject(wire) && isEmpty(wire as FieldSet);

/** How many characters of a path element take as long as one value: the keys and the value of an entry are JSON. */
const charactersPerValue = 64;

/** Undefined for an empty node. */
function* parseNode(
  wire: Json | undefined,
  budget: { left: number },
  depth: number,
  pace: Pace,
): Steps<FieldSet | undefined> {
  if (!isJsonObject(wire)) throw malformed('a node is not an object');
  if (depth > maxFieldSetDepth) throw malformed(`it is deeper than ${maxFieldSetDepth} levels`);
  const out: FieldSetDraft = {};
  let members = 0;
  for (const text in wire) {
    const below = wire[text];
    members++;
    if (pace.over(1 + Math.floor(text.length / charactersPerValue))) yield;
    if (budget.left-- === 0) throw malformed(`it has more than ${maxFieldSetElements} elements`);
    if (text === itself) {
      if (depth === 0) throw malformed('the outermost node cannot be a member');
      if (!isJsonObject(below) || !isEmpty(below as FieldSet)) throw malformed('the member "." is not {}');
      out[itself] = leaf;
      continue;
    }
    const element = canonicalElement(text);
    if (element === undefined) throw malformed(`${JSON.stringify(text.slice(0, 100))} is not a path element`);
    if (out[element] !== undefined) throw malformed(`${JSON.stringify(element.slice(0, 100))} is there twice`);
    out[element] =
      depth < maxFieldSetDepth && isEmptyNode(below)
        ? leaf
        : ((yield* parseNode(below, budget, depth + 1, pace)) ?? leaf);
  }
  return toNode(out, members);
}

const malformed = (why: string): StatusError => statusError.badRequest(`fieldsV1 is not a set of fields: ${why}`);
