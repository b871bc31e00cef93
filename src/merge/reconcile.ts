import { largeWeight, Pace, type Steps } from '../meta/index.ts';
import {
  type Changes,
  type FieldSet,
  type FieldSetDraft,
  includesItself,
  isEmpty,
  itself,
  leaf,
  withChanges,
} from './field-set.ts';
import { weightOf, withChangesInSteps } from './field-set-steps.ts';
import { type FieldShape, memberShape, type Shape, type StructShape, untyped } from './shape.ts';

/**
 * Reconciles a field set with a changed schema. A set with a field inside a struct, map or list that has become atomic
 * gets the whole value. For a value that was atomic and is now granular, the set retains the value itself and gets no
 * fields below it, so that no conflict arises over them. Fields that the schema no longer declares are dropped. Returns
 * the set itself when nothing changes.
 */
export function reconcile(shape: StructShape, set: FieldSet): FieldSet {
  if (isEmpty(set) || reconciledSets.get(set) === shape) return set;
  const after = reconcileNode(shape, set) ?? leaf;
  reconciledSets.set(after, shape);
  return after;
}

/** The same in steps, for a large set. */
export function* reconcileInSteps(shape: StructShape, set: FieldSet): Steps<FieldSet> {
  if (isEmpty(set) || reconciledSets.get(set) === shape) return set;
  const after = (yield* reconcileNodeInSteps(shape, set, new Pace())) ?? leaf;
  reconciledSets.set(after, shape);
  return after;
}

/** Sets already reconciled with a schema. */
const reconciledSets = new WeakMap<FieldSet, StructShape>();

function reconcileNode(shape: Shape, node: FieldSet): FieldSet | undefined {
  switch (shape.kind) {
    case 'unowned':
      return undefined;
    case 'untyped':
      return node;
    case 'scalar':
      if (isEmpty(node)) return node;
      return includesItself(node) ? leaf : undefined;
    default: {
      if (isEmpty(node)) return shape.kind === 'struct' && shape.bare ? undefined : node;
      const shapeAt = shapesBelow(shape);
      return shapeAt === undefined ? leaf : below(node, shapeAt);
    }
  }
}

function* reconcileNodeInSteps(shape: Shape, node: FieldSet, pace: Pace): Steps<FieldSet | undefined> {
  const weight = weightOf(node);
  if (pace.over(weight)) yield;
  const shapeAt = weight < largeWeight ? undefined : shapesBelow(shape);
  if (shapeAt === undefined) return reconcileNode(shape, node);
  const changed: Changes = new Map();
  for (const element in node) {
    if (pace.over()) yield;
    if (element === itself) continue;
    const before = node[element] as FieldSet;
    const inner = shapeAt(element);
    const after = inner === undefined ? undefined : yield* reconcileNodeInSteps(inner, before, pace);
    if (after !== before) changed.set(element, after);
  }
  return changed.size === 0 ? node : yield* withChangesInSteps(node, changed, pace);
}

type ShapeAt = (element: string) => Shape | undefined;

/** The shapes of the elements below a granular value; undefined for others. */
function shapesBelow(shape: Shape): ShapeAt | undefined {
  switch (shape.kind) {
    case 'list': {
      const start = shape.listType === 'map' ? 'k:' : 'v:';
      return shape.listType === 'atomic'
        ? undefined
        : (element) => (element.startsWith(start) ? shape.element : undefined);
    }
    case 'map':
      return shape.atomic ? undefined : (element) => (element.startsWith('f:') ? shape.value : undefined);
    case 'struct':
      return shape.atomic
        ? undefined
        : (element) => (element.startsWith('f:') ? memberShape(shape, element.slice(2)) : undefined);
    default:
      return undefined;
  }
}

function below(node: FieldSet, shapeAt: ShapeAt): FieldSet | undefined {
  let changed: Changes | undefined;
  for (const element in node) {
    if (element === itself) continue;
    const before = node[element] as FieldSet;
    const shape = shapeAt(element);
    const after = shape === undefined ? undefined : reconcileNode(shape, before);
    if (after !== before) changed = (changed ?? new Map()).set(element, after);
  }
  return changed === undefined ? node : withChanges(node, changed);
}

/** The set with every declared field that has a member below it, so that a field with owned members counts as owned. */
export function withNamedFields(shape: Shape, node: FieldSet): FieldSet {
  const out: FieldSetDraft = {};
  for (const element in node) {
    const inner = node[element] as FieldSet;
    const field = fieldAt(shape, element);
    const renamed = isEmpty(inner) ? inner : withNamedFields(field?.shape ?? innerShape(shape), inner);
    out[element] =
      field === undefined || isBare(field) || includesItself(renamed) ? renamed : { [itself]: leaf, ...renamed };
  }
  return out;
}

/**
 * The paths to remove for a set that its manager no longer applies: entries and values of the set (which is disjoint
 * from `others`), and every declared field without a member in `others`.
 */
export function fieldsToRemove(shape: Shape, node: FieldSet, others: FieldSet | undefined): FieldSet {
  const out: FieldSetDraft = {};
  for (const element in node) {
    if (element === itself) continue;
    const inner = node[element] as FieldSet;
    const otherFields = others?.[element];
    const field = fieldAt(shape, element);
    if (field === undefined ? includesItself(inner) : otherFields === undefined && !isBare(field)) {
      out[element] = leaf;
      continue;
    }
    const toRemove = fieldsToRemove(field?.shape ?? innerShape(shape), inner, otherFields);
    if (!isEmpty(toRemove)) out[element] = toRemove;
  }
  return out;
}

/** Whether the field itself is never owned: metadata, which every object has. */
const isBare = ({ shape }: FieldShape): boolean => shape.kind === 'struct' && shape.bare;

const fieldAt = (shape: Shape, element: string): FieldShape | undefined =>
  shape.kind === 'struct' ? shape.fields.get(element.slice(2)) : undefined;

const innerShape = (shape: Shape): Shape =>
  shape.kind === 'list' ? shape.element : shape.kind === 'map' ? shape.value : untyped;
