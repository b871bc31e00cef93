import {
  type Changes,
  changedBy,
  type FieldSet,
  type FieldSetDraft,
  includesItself,
  isEmpty,
  itself,
  leaf,
} from './field-set.ts';
import { type FieldShape, free, type Shape, type StructShape } from './shape.ts';

/**
 * A set as the schema of today has it. An owner of something inside a struct, map or list that has become atomic owns
 * all of it; of one that was atomic and no longer is, the owner keeps what it is itself, so that nobody else's part of
 * it conflicts. What the schema does not know any more is dropped. A set that needs none of this is given back itself.
 */
export function reconcile(shape: StructShape, set: FieldSet): FieldSet {
  if (isEmpty(set) || asToday.get(set) === shape) return set;
  const after = reconciled(shape, set) ?? leaf;
  asToday.set(after, shape);
  return after;
}

/** Sets that are known to be as a schema has them. */
const asToday = new WeakMap<FieldSet, StructShape>();

function reconciled(shape: Shape, node: FieldSet): FieldSet | undefined {
  switch (shape.kind) {
    case 'unowned':
      return undefined;
    case 'free':
      return node;
    case 'scalar':
      if (isEmpty(node)) return node;
      return includesItself(node) ? leaf : undefined;
    case 'list':
      if (isEmpty(node)) return node;
      if (shape.listType === 'atomic') return leaf;
      return below(node, (element) =>
        element.startsWith(shape.listType === 'map' ? 'k:' : 'v:') ? shape.element : undefined,
      );
    case 'map':
      if (isEmpty(node)) return node;
      if (shape.atomic) return leaf;
      return below(node, (element) => (element.startsWith('f:') ? shape.value : undefined));
    default:
      if (isEmpty(node)) return shape.bare ? undefined : node;
      if (shape.atomic) return leaf;
      return below(node, (element) =>
        element.startsWith('f:') ? shape.fields.get(element.slice(2))?.shape : undefined,
      );
  }
}

function below(node: FieldSet, shapeAt: (element: string) => Shape | undefined): FieldSet | undefined {
  let changed: Changes | undefined;
  for (const element in node) {
    if (element === itself) continue;
    const before = node[element] as FieldSet;
    const shape = shapeAt(element);
    const after = shape === undefined ? undefined : reconciled(shape, before);
    if (after !== before) changed = (changed ?? new Map()).set(element, after);
  }
  return changed === undefined ? node : changedBy(node, changed);
}

/** The set with every declared field that it has something below of: who owns a part of a field holds the field. */
export function withHeldFields(shape: Shape, node: FieldSet): FieldSet {
  const out: FieldSetDraft = {};
  for (const element in node) {
    const inner = node[element] as FieldSet;
    const field = fieldAt(shape, element);
    const held = isEmpty(inner) ? inner : withHeldFields(field?.shape ?? innerShape(shape), inner);
    out[element] = field === undefined || isBare(field) || includesItself(held) ? held : { [itself]: leaf, ...held };
  }
  return out;
}

/**
 * What is to be removed so that an owner holds nothing of a set any more: its entries and values, which the others have
 * nothing in common with, and every declared field that none of them holds.
 */
export function withoutHolders(shape: Shape, node: FieldSet, others: FieldSet | undefined): FieldSet {
  const out: FieldSetDraft = {};
  for (const element in node) {
    if (element === itself) continue;
    const inner = node[element] as FieldSet;
    const held = others?.[element];
    const field = fieldAt(shape, element);
    if (field === undefined ? includesItself(inner) : held === undefined && !isBare(field)) {
      out[element] = leaf;
      continue;
    }
    const gone = withoutHolders(field?.shape ?? innerShape(shape), inner, held);
    if (!isEmpty(gone)) out[element] = gone;
  }
  return out;
}

/** Nobody holds the field itself, whatever they own in it: metadata, which no object is without. */
const isBare = ({ shape }: FieldShape): boolean => shape.kind === 'struct' && shape.bare;

const fieldAt = (shape: Shape, element: string): FieldShape | undefined =>
  shape.kind === 'struct' ? shape.fields.get(element.slice(2)) : undefined;

const innerShape = (shape: Shape): Shape =>
  shape.kind === 'list' ? shape.element : shape.kind === 'map' ? shape.value : free;
