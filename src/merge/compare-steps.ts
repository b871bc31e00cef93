/** The comparison of large objects, in steps. Gives the result of `compare`, which does the small parts. */
import {
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEqualInSteps,
  largeWeight,
  Pace,
  type Steps,
  weigh,
} from '../meta/index.ts';
import { type Comparison, Differences, type Entries, nothing, walk, walkRepeated } from './compare.ts';
import { leaf } from './field-set.ts';
import { elementOf, identityOf, wholeOfInSteps } from './fields-of.ts';
import { fieldElement } from './path.ts';
import { type ListShape, memberShape, type ObjectShape, type Shape, type StructShape } from './shape.ts';

export function* compareInSteps(shape: StructShape, before: JsonObject, after: JsonObject): Steps<Comparison> {
  const work = new Work();
  yield* walkInSteps(shape, before, after, work);
  return work.differences;
}

class Work {
  readonly differences = new Differences();
  readonly pace = new Pace();
}

type Side = Json | undefined;

function* walkInSteps(shape: Shape, before: Side, after: Side, work: Work): Steps<void> {
  const { differences, pace } = work;
  const [was, is] = [weigh(before), weigh(after)];
  if (pace.over(was + is)) yield;
  if (was < largeWeight && is < largeWeight) {
    walk(shape, before, after, differences);
  } else if (before === undefined) {
    differences.put(differences.added, yield* wholeOfInSteps(shape, after as Json, pace));
  } else if (after === undefined) {
    differences.put(differences.removed, yield* wholeOfInSteps(shape, before, pace));
  } else if (isGranular(shape) && (isJsonObject(before) || isJsonObject(after))) {
    const objects = (isJsonObject(before) || before === null) && (isJsonObject(after) || after === null);
    if (!objects && shape.kind === 'untyped') differences.put(differences.modified, leaf);
    yield* walkObjectInSteps(shape, membersOf(before), membersOf(after), work);
  } else if (shape.kind === 'list' && shape.listType !== 'atomic') {
    yield* walkListInSteps(shape, entriesOf(before), entriesOf(after), work);
  } else if (shape.kind !== 'unowned' && !(yield* jsonEqualInSteps(before, after, pace))) {
    differences.put(differences.modified, leaf);
  }
}

const membersOf = (value: Json): JsonObject => (isJsonObject(value) ? value : nothing);
const entriesOf = (value: Json): Json[] => (Array.isArray(value) ? value : []);

/** Whether the members of an object are compared one by one. */
const isGranular = (shape: Shape): shape is ObjectShape =>
  shape.kind === 'untyped' || ((shape.kind === 'struct' || shape.kind === 'map') && !shape.atomic);

function* walkObjectInSteps(shape: ObjectShape, old: JsonObject, now: JsonObject, work: Work): Steps<void> {
  for (const key in old) {
    if (work.pace.over()) yield;
    const is = Object.hasOwn(now, key) ? now[key] : undefined;
    if (old[key] !== is) yield* walkMemberInSteps(shape, key, [old[key], is], work);
  }
  for (const key in now) {
    if (work.pace.over()) yield;
    if (!Object.hasOwn(old, key)) yield* walkMemberInSteps(shape, key, [undefined, now[key]], work);
  }
}

function* walkMemberInSteps(
  shape: ObjectShape,
  key: string,
  [before, after]: readonly [Side, Side],
  work: Work,
): Steps<void> {
  const inner = memberShape(shape, key);
  if (inner === undefined) return;
  work.differences.path.push(fieldElement(key));
  yield* walkInSteps(inner, before, after, work);
  work.differences.path.pop();
}

function* walkListInSteps(shape: ListShape, old: Json[], now: Json[], work: Work): Steps<void> {
  const was = yield* entriesInSteps(shape, old, work);
  const is = yield* entriesInSteps(shape, now, work);
  for (const [identity, entries] of was) yield* walkEntryInSteps(shape, entries, is.get(identity) ?? [], work);
  for (const [identity, entries] of is) {
    if (work.pace.over()) yield;
    if (!was.has(identity)) yield* walkEntryInSteps(shape, [], entries, work);
  }
}

function* entriesInSteps(shape: ListShape, list: readonly Json[], { pace }: Work): Steps<Entries> {
  const entries = new Map<string, Json[]>();
  for (const entry of list) {
    if (pace.over()) yield;
    const identity = identityOf(shape, entry);
    const same = entries.get(identity);
    if (same === undefined) entries.set(identity, [entry]);
    else same.push(entry);
  }
  return entries;
}

function* walkEntryInSteps(shape: ListShape, was: Json[], is: Json[], work: Work): Steps<void> {
  const { differences, pace } = work;
  differences.path.push(elementOf(shape, (was.length > 0 ? was : is)[0] as Json));
  if (was.length <= 1 && is.length <= 1) {
    yield* walkInSteps(shape.element, was[0], is[0], work);
  } else if (was.length <= 1 || is.length <= 1) {
    walkRepeated(shape, was, is, differences);
  } else if (!(yield* jsonEqualInSteps(was, is, pace))) {
    differences.put(differences.modified, leaf);
  }
  differences.path.pop();
}
